"""The charts on screen as SVG files, made in the browser, just as they stand there.

As PNG files they are saved from their own toolbar, which Streamlit brings.
"""

import streamlit as st

_CHART_FILES = st.components.v2.component(
    "attention_pictures",
    css="""
    ul { list-style: none; margin: 0; padding: 0; font-family: var(--st-font); font-size: 0.875rem;
         color: var(--st-text-color); }
    li { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.5rem;
         padding: 0.15rem 0; }
    span { flex: 1 1 12rem; overflow-wrap: anywhere; }
    button { font: inherit; color: inherit; background: none; cursor: pointer;
             border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
             padding: 0.2rem 0.7rem; min-height: 1.75rem; }
    button:hover { color: var(--st-link-color); border-color: currentColor; }
    button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
    """,
    html="<ul></ul>",
    js="""
    const MARGIN = 12;

    // Charts that are on screen: folded ones are not drawn.
    const charts = () => [...document.querySelectorAll('[data-testid=stVegaLiteChart]')]
        .map((chart) => ({ chart, svg: chart.querySelector("svg.marks") }))
        .filter(({ svg }) => svg && svg.checkVisibility());
    const title = ({ chart, svg }) => svg.querySelector(".role-title text")?.textContent
        || chart.getAttribute("aria-label") || "Picture";

    // A copy that needs nothing of the page: its ink, its ground, and what is to be seen.
    function standalone({ chart, svg }) {
        const copy = svg.cloneNode(true);
        copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
        copy.style.color = getComputedStyle(svg).color;
        const page = document.querySelector("[data-testid=stApp]");
        copy.style.background = getComputedStyle(page).backgroundColor;
        const says = document.createElementNS("http://www.w3.org/2000/svg", "title");
        says.textContent = chart.getAttribute("aria-label") ?? "";
        copy.prepend(says);
        const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
        const [wide, high] = [width + 2 * MARGIN, height + 2 * MARGIN];
        copy.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${wide} ${high}`);
        copy.setAttribute("width", wide);
        copy.setAttribute("height", high);
        // Gradients are named by the address of the page, which a file does not have.
        for (const part of copy.querySelectorAll("[fill*='#'], [stroke*='#']"))
            for (const ink of ["fill", "stroke"])
                part.setAttribute(ink, (part.getAttribute(ink) ?? "none")
                    .replace(/^url\\(['"]?[^#]*#([^'")]*)['"]?\\)$/, "url(#$1)"));
        return new XMLSerializer().serializeToString(copy);
    }

    function save(picture) {
        const name = title(picture).toLowerCase().replace(/[^\\p{L}\\p{N}]+/gu, "_").slice(0, 60);
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([standalone(picture)], { type: "image/svg+xml" }));
        link.download = `${name}.svg`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    }

    export default function ({ parentElement }) {
        const list = parentElement.querySelector("ul");
        let shown = null;
        function refresh() {
            const found = charts(), titles = JSON.stringify(found.map(title));
            if (titles === shown) return;
            shown = titles;
            list.replaceChildren(...found.map((picture, number) => {
                const item = document.createElement("li");
                const name = document.createElement("span");
                name.textContent = title(picture);
                const button = document.createElement("button");
                button.textContent = "SVG";
                button.setAttribute("aria-label", `${title(picture)} as SVG`);
                // The chart may have been drawn anew since: take the one in its place.
                button.onclick = () => save(charts()[number] ?? picture);
                item.append(name, button);
                return item;
            }));
        }
        refresh();
        const watch = new MutationObserver(refresh);
        const main = document.querySelector("[data-testid=stMain]") ?? document.body;
        watch.observe(main, { childList: true, subtree: true });
        return () => watch.disconnect();
    }
    """,
)


def offer_charts(*, key: str) -> None:
    """A list of the charts on screen, each with a button for its SVG."""
    _CHART_FILES(key=key)

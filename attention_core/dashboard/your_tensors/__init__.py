"""The learner's own heads, or those of the samples: all of them as small pictures, one in full."""

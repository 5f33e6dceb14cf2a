"""Frequencies of a rotation before its scaling."""

from generator.encodings.rotations import Rotation
from generator.numerics.arrays import Floats, frozen

# The kind whose pairs turn as those of a rotation of the whole head do, of which it keeps the
# fastest.
OF_WHOLE_HEAD = "proportional"


def frequencies_before(form: Rotation) -> Floats:
    """Frequencies without scaling, of the pairs that turn with it: (n_pairs,), radians per
    position, as many as ``form.frequencies``.

    Pairs that a scaling stops are the last ones.
    errors: RowError when transformers cannot compute the frequencies of the rotation
    """
    n_pairs = form.frequencies.size
    if form.rope_type != OF_WHOLE_HEAD:
        return form.unscaled_frequencies[:n_pairs]
    whole = Rotation(form.base, form.head_dim, form.head_dim, form.n_positions, step=form.step)
    return frozen(whole.unscaled_frequencies[:n_pairs])

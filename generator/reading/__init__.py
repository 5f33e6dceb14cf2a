"""What the files of one checkpoint say of position: encodings, their evidence, open questions,
rules of ``lint``, and two checkpoints side by side. Nothing here measures, draws or builds.
"""

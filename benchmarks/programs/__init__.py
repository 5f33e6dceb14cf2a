"""Run by other Pythons, with the programs that read config.json: they import nothing of the atlas,
take configs as JSON on standard input, and print what the program takes of each, null where it
fails.
"""

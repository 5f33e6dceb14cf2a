"""The analyses, one question per module: computation, findings and figures. Every module holds one
``Analysis``.
"""

"""What all methods share: server, capabilities, text documents and settings.

In: what the editor announces. Out: documents and places of the engine. A URI and a position of the protocol become a
document and a place here, and nowhere else.
"""

"""What all methods share: server, capabilities, text documents and settings.

In: what the editor announces. Out: documents and places of the engine. A position in a request becomes
a place of the engine here alone; `sync` has its own way for edits, whose positions are those of the text before.
"""

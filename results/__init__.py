"""The experiments behind docs/results: what is trained, how its record is stored, how the pages are made.

    python -m results list                     what there is, and how much of it is stored
    python -m results run umls 'ablation-*'    train, or go on, and store each record
    python -m results search 'cora-nc-*'       search settings, and store what was found
    python -m results pages                    write docs/results from the stored records
    python -m results stale                    which stored figures are older than the code they measure

Each task has a folder: `cells.py` says what is trained, `page.py` makes the tables, `page.md` has the words around
them.
"""

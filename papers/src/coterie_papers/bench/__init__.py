"""What every comparison here needs, the pages of the papers and the scripts in `benchmarks/` alike.

    collections     labelled data sets, prepared and kept on disk
    contenders      the methods that are compared
    trial, store    a piece of work with a name, and outcomes that survive a run that was stopped
    kinds, runner   what is done in a trial, and worker processes that do it
    results         outcomes looked up and averaged
    markdown        tables for the pages

Nothing in here knows a paper: `coterie_papers` and `benchmarks/` bring their own kinds of trials.
"""

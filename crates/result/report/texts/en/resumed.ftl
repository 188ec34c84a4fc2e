# Runs that were interrupted and resumed.

method-resumed-heading = Resumed
method-resumed = This run was interrupted and resumed. Finished trials were kept. A trial that had been cut off was measured again from its beginning, and the finished one replaces it. The machine was read again at each resumption, and any difference is listed as a doubt.
method-resumed-item = { $at }: resumed by { $wireproof }; finished trials kept: { $kept }
doubt-other-build = The run was begun by { $first } and resumed by { $then }, which may measure differently. Repeat it with one of them if the difference matters.

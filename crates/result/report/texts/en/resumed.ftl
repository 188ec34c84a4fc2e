# Runs that were cut off and gone on with.

method-resumed-heading = Gone on with
method-resumed = This run was not made in one go: it was cut off and gone on with. Finished trials were kept. A trial that had been cut off was measured again from its beginning, and the finished one stands in its place. The machine was read again each time, and what differed is a doubt.
method-resumed-item = { $at }: gone on with by { $wireproof }; finished trials kept: { $kept }
doubt-other-build = The run was begun by { $first } and gone on with by { $then }, which may measure differently. Repeat it with one of them if the difference matters.

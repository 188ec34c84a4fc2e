# Progress and notices of the program. Each key is in ja/ as well.

notice-preparing = Preparing the test bed
notice-measuring = { $step } of { $steps }: measuring { $what }
measurement-latency = latency, { $name }
measurement-path = { $name }
measurement-goodput = goodput, { $name }
notice-second = [{ $number } s] { $ways }
second-retransmits = resent { $count }
notice-undoing = Undoing what was set up
notice-report-written = Report written to { $path }
notice-signature-removed = The signature in { $folder } was removed: it was over files that have now been written again. Sign them with --sign KEY
notice-issued-before = Warning: the date of issue ({ $date }) is before the end of the measurement ({ $measured }). Correct it with --meta date=YEAR-MONTH-DAY
notice-signed-before = Warning: “{ $who }” is dated before the end of the measurement ({ $measured }). Correct the date, as in --made-by "NAME, YEAR-MONTH-DAY"
notice-unknown-zone = Warning: TZ is “{ $value }”, and this machine has no such time zone: times are in UTC. Set one like Asia/Tokyo (package tzdata)
notice-core-shared = Core { $cpu } serves more than one end. They take turns on it, so the figures are partly those of the scheduler, and the measurement may take many times as long. Give each end a core of its own with --cpus where there are several.
notice-interrupted = Interrupted: finishing, then storing and reporting what was measured so far. Press Ctrl-C again to stop at once; “wireproof clean” then undoes what is left.
notice-time-left = about { $time } left
notice-throughput-alias = “Throughput” is RFC 1242's highest rate without loss. This command measures goodput: the payload that arrives, as iperf3 shows it.
notice-unprivileged = Running without root, in a user namespace of its own. With root (sudo), beds can stay (bed up) and other programs can be run in them.
notice-no-root = Without root on { $machine }, nothing is changed there. With root (sudo here; there a login as root, or sudo that asks for no password), missing addresses can be added and other MTUs measured.
notice-unknown-record = Measuring goes on beside a record of changes that this version does not know; “wireproof clean” there names each: { $why }
notice-resumable = The run is kept. Continue it with “{ $command }”.
notice-runs-stored = Runs so far: { $runs }. “{ $command }” shows them together.

# One side of numbered packets by itself.

notice-sending = Sending from { $interface } to { $to }; Ctrl-C ends it.
notice-listening = Counting numbered packets at { $interface }; Ctrl-C ends it. Start the sender now.
sides-so-far = { $received } received, { $pps }, { $lost } lost
sides-col-stream = Stream
sides-col-sequence = Sequence
sides-nothing = No numbered packet came. Is the sender's token the same, and has it VLAN tags, or TCP in small frames or over IPv6 (then give both sides the same --stream-file)?
sides-lost-note = Lost: numbers from 0 to the highest that came which did not come. What the sender sent behind that one is not known here; compare with its own count.
sides-others = Other frames, passed on to the kernel: { $others }

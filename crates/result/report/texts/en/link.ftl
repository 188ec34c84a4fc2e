col-most = Theoretical maximum
goodput-most-note = Theoretical maximum: what the link’s rate leaves for payload one way, with packets of full size: link rate × payload ÷ (frame size + 20 bytes of preamble, start delimiter and gap).
goodput-most-unknown = Theoretical maximum: not known, as no rate of the link is known.
most-unknown = not known

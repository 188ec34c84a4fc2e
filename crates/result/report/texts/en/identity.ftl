# Whose document it is, what it covers, what was verified, and what stands beside it.

label-document-number = Document number
label-revision = Revision
label-customer = Customer
label-site = Site
label-date = Date
date-before = { $date } (before the measurement ended on { $measured })
label-classification = Classification
label-distribution = Distribution
label-made-by = Made by
label-checked-by = Checked by
label-approved-by = Approved by

scope-heading = Scope
scope-results = The results relate only to the items tested, in the state and at the time described here. wireproof is not a calibrated instrument: its figures rest on the clocks and counters of the machines themselves.
tested-devices-caption = Devices under test
col-model = Maker and model
col-serial = Serial number
col-note = Remarks
deviations-heading = Deviations from the method
deviations-none = None was reported.
conditions-caption = Test conditions
condition-room = Room
condition-temperature = Ambient temperature
condition-humidity = Relative humidity
condition-power-profile = Power profile
standards-caption = Standards that the test follows, as the author declares
col-standard = Standard
col-deviations = Deviations
no-deviations = None
changes-heading = Revision history
changes-caption = Revisions of this document
col-date = Date
col-author = Author
col-change = Change

issues-heading = Findings
issues-none = No criterion is missed or open.

items-heading = Items verified
items-caption = Everything that was verified, by measuring or by looking. Results of measurements are medians over the trials, with their uncertainty interval (95 % or more) where there is one; by that interval they are judged. Items that are open for one reason share a row, which shows the lowest and the highest of their medians.
col-number = No.
col-item = Item
col-criterion = Criterion
col-result = Result
no-criterion = No criterion
photo-caption = Item { $number }: { $what }
photo-note = File { $name }
photo-description = Photo: { $what }

files-heading = Files beside this report
files-meaning = These files stand beside this report, which was made from them. SHA256SUMS holds their sums and that of the report itself; the commands below, given in that folder, say whether a file was changed since.
files-caption = Files with their sums
col-file = File
col-bytes = Bytes

fact-bios = Firmware (BIOS)
fact-file-system = Root file system
fact-services = Running services or programs
cards-caption = Cards and drivers, from inside the namespaces
col-driver-version = Driver version
col-firmware = Firmware version
col-bus = Bus address
col-pcie = PCIe link
pcie-link = x{ $width } at { $speed } (card: x{ $most_width } at { $most_speed })

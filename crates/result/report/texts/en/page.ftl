# Numbers, and what a page is made of whatever it says.

contents-heading = Contents
figure-number = Figure { $number }
table-number = Table { $number }
annex-heading = Annex
on-page = (p. { $page })

# 番号など、内容によらず報告書の各形式が用いる語

contents-heading = 目次
figure-number = 図{ $number }
table-number = 表{ $number }
annex-heading = 付録
on-page = ({ $page } ページ)

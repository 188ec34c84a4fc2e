# 文書の識別、適用範囲、検証項目、添付ファイル。キーは en/ と同じ。

label-document-number = 文書番号
label-revision = 版
label-customer = 顧客名
label-site = 実施場所
label-date = 発行日
date-before = { $date }(測定終了日 { $measured } より前)
label-classification = 機密区分
label-distribution = 配布先
label-made-by = 作成
label-checked-by = 確認
label-approved-by = 承認

scope-heading = 適用範囲
scope-results = 本報告書の結果は、ここに記す状態と時点における試験対象にのみ関するものです。wireproof は校正された測定器ではなく、測定値は各マシン自身の時計とカウンターに基づきます。
tested-devices-caption = 被試験装置
col-model = メーカー・型番
col-serial = 製造番号
col-note = 備考
deviations-heading = 測定方法からの逸脱
deviations-none = 申告された逸脱はありません。
conditions-caption = 試験条件
condition-room = 設置場所
condition-temperature = 周囲温度
condition-humidity = 相対湿度
condition-power-profile = 電力プロファイル
standards-caption = 準拠規格(作成者の申告による)
col-standard = 規格
col-deviations = 規格からの逸脱
no-deviations = なし
changes-heading = 改版履歴
changes-caption = 本書の改版履歴
col-date = 日付
col-author = 作成者
col-change = 変更内容

issues-heading = 指摘事項
issues-none = 不合格または判定できなかった項目はありません。

items-heading = 検証項目
items-caption = 測定または目視で検証したすべての項目。測定の結果は試行間の中央値と不確かさの区間(信頼度95 %以上)で、この区間により判定しています。同じ理由で判定できなかった項目は1行にまとめ、結果には中央値の最小と最大を示しています。
col-number = 番号
col-item = 項目
col-criterion = 判定基準
col-result = 結果
no-criterion = 判定対象外(判定基準の設定なし)
photo-caption = 項目 { $number }: { $what }
photo-note = ファイル { $name }
photo-description = 写真: { $what }

files-heading = 添付ファイル
files-meaning = この報告書は、同じフォルダーにある次のファイルから作成したものです。SHA256SUMS には、これらと報告書自体のハッシュ値が記録されています。そのフォルダーで次のコマンドを実行すると、作成後に変更されたファイルがないか確認できます。
files-caption = ファイルとハッシュ値
col-file = ファイル
col-bytes = バイト数

fact-bios = ファームウェア(BIOS)
fact-file-system = ルートファイルシステム
fact-services = 動作中のサービスまたはプログラム
cards-caption = カードとドライバー(名前空間の中から取得)
col-driver-version = ドライバーのバージョン
col-firmware = ファームウェアのバージョン
col-bus = バスアドレス
col-pcie = PCIe リンク
pcie-link = x{ $width }、{ $speed }(カードの上限: x{ $most_width }、{ $most_speed })

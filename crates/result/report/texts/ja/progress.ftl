# プログラムの進捗と通知。キーは en/ と同じ。

notice-preparing = 試験環境を準備しています
notice-measuring = { $step }/{ $steps }: { $what }を測定しています
measurement-latency = RTT({ $name })
measurement-path = { $name }
measurement-goodput = 実効スループット({ $name })
notice-second = [{ $number } 秒] { $ways }
second-retransmits = 再送 { $count }
notice-undoing = 設定を元に戻しています
notice-report-written = 報告書を { $path } に書き出しました
notice-signature-removed = { $folder } にあった署名は、署名の対象だったファイルを書き直したため削除しました。署名し直すには --sign KEY を指定してください
notice-issued-before = 警告: 発行日({ $date })が測定終了日({ $measured })より前です。--meta date=年-月-日 で修正してください
notice-signed-before = 警告: 署名「{ $who }」の日付が測定終了日({ $measured })より前です。--made-by "氏名, 年-月-日" のように修正してください
notice-unknown-zone = 警告: TZ の値「{ $value }」はこのマシンにないタイムゾーンのため、時刻を UTC で表示します。Asia/Tokyo のように指定してください
notice-core-shared = 複数のエンドポイントがコア { $cpu } を共用します。交互に実行されるため、測定値にはスケジューラーの影響が含まれ、測定に何倍もの時間がかかることがあります。コアが複数ある場合は、--cpus でエンドポイントごとに別のコアを指定してください。
notice-interrupted = 中断されました。終了処理を行い、ここまでの測定結果を保存して報告書を作成します。もう一度 Ctrl-C を押すと直ちに終了します(残った設定は wireproof clean で元に戻せます)
notice-time-left = 残り約 { $time }
notice-throughput-alias = 「スループット」は RFC 1242 では損失のない最大のレートを指します。このコマンドが測定するのは実効スループット(グッドプット)、すなわち iperf3 と同じく受信側に届いたペイロードの量です。
notice-unprivileged = root 権限なしで、専用のユーザー名前空間の中で実行しています。root 権限(sudo)があれば、試験環境を常設し(bed up)、その中でほかのプログラムも実行できます。
notice-no-root = { $machine } では root 権限がないため、何も変更しません。root 権限(このホストでは sudo、相手のホストでは root でのログインまたはパスワードなしの sudo)があれば、不足しているアドレスの追加と、別の MTU での測定もできます。
notice-unknown-record = このバージョンでは読めない変更の記録がありますが、測定を続けます(そのホストでの「wireproof clean」がすべてを表示します): { $why }
notice-resumable = この測定は保存されています。「{ $command }」で続きを測定できます。
notice-runs-stored = ここまでの測定: { $runs }。「{ $command }」でまとめて表示できます。

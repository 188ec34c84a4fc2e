# bypass の表示: カーネルを経由する理由
bypass-reason-tcp = TCP は現時点では対象外
bypass-reason-not-udp = UDP でも TCP でもない
bypass-reason-not-bound = ポートにバインドされていない
bypass-reason-other-interface = アドレスがバイパス対象のインターフェースのものではない
bypass-reason-other-device = デバイスにバインドされている(SO_BINDTODEVICE)が、バイパス対象がそのデバイスだけではない
bypass-reason-ip-options = パケットに IP オプションまたは拡張ヘッダーが付く
bypass-reason-cork = 複数回の呼び出しで 1 つのデータグラムを組み立てる(UDP_CORK)
bypass-reason-timestamping = カードまたはカーネルのタイムスタンプを使う(SO_TIMESTAMPING)
bypass-reason-filter = フィルターが付いている(SO_ATTACH_FILTER、SO_ATTACH_BPF、SO_ATTACH_REUSEPORT_CBPF、SO_ATTACH_REUSEPORT_EBPF)
bypass-reason-zero-copy = ゼロコピー送信を使う(SO_ZEROCOPY)
bypass-reason-encapsulation = カーネルがカプセル化を解く(UDP_ENCAP)
bypass-reason-stdio = stdio で読み書きする(fdopen、dup、dup2)
bypass-reason-shut-down = シャットダウンされた(shutdown)
bypass-reason-signals = データグラムの到着をシグナルで知らせる(O_ASYNC)
bypass-reason-shared-port = カーネルを通るソケットとポートを共有している
bypass-reason-no-grant = プロセスにキューが割り当てられなかった
bypass-reason-unusable = 割り当てられたキューをプロセスが使えなかった
bypass-reason-table-full = フローテーブルが満杯
bypass-reason-interface-gone = インターフェースがなくなったか、ダウンしたか、別の XDP プログラムが付いている
bypass-reason-forked = バイパスしているプロセスの子プロセスが使っている
bypass-reason-unreadable = ソケットの種類をカーネルから読み取れなかった
bypass-reason-no-memory = メモリーが足りない
bypass-reason-unsupported = バイパスでは対応していない機能を使う
bypass-reason-timestamp = 新しい形式のタイムスタンプを使う(SO_TIMESTAMP_NEW、SO_TIMESTAMPNS_NEW)
bypass-reason-mark = パケットにカーネル向けのマークを付ける(SO_MARK)
bypass-reason-dont-route = 経路表を使わずに送信する(SO_DONTROUTE)
bypass-reason-overflow = 破棄された数をカーネルから受け取る(SO_RXQ_OVFL)
bypass-reason-transparent = このマシンのものでないアドレスを使う(IP_TRANSPARENT)
bypass-reason-min-ttl = TTL の小さいパケットを拒否する(IP_MINTTL、IPV6_MINHOPCOUNT)
bypass-reason-security = 相手のセキュリティーラベルを受け取る(IP_PASSSEC)
bypass-reason-original-address = 本来の宛先アドレスを受け取る(IP_RECVORIGDSTADDR、IPV6_RECVORIGDSTADDR)
bypass-reason-checksum = チェックサムを受け取る、またはチェックサムのないものを受け入れる(IP_CHECKSUM、UDP_NO_CHECK6_RX)
bypass-reason-fragment-size = フラグメントの大きさを受け取る(IP_RECVFRAGSIZE、IPV6_RECVFRAGSIZE)
bypass-reason-unicast-interface = 送信に使うインターフェースを選ぶ(IP_UNICAST_IF、IPV6_UNICAST_IF)
bypass-reason-old-packet-info = IPv6 の古い形式でパケットの情報を受け取る(IPV6_2292PKTINFO、IPV6_2292HOPLIMIT)
bypass-reason-flow-info = フローラベルを受け取る、または指定する(IPV6_FLOWINFO、IPV6_FLOWINFO_SEND)
bypass-reason-peek-offset = 位置を指定して先読みする(SO_PEEK_OFF)
bypass-reason-scope = 自分または相手のアドレスがリンクローカルまたはマルチキャスト
bypass-reason-fault = ライブラリの不具合を検出したため(開発元に報告してください)
bypass-reason-inherited = fork されたほかのプロセスも同じソケットを持っている
bypass-reason-jump = シグナルハンドラーがライブラリの処理の途中で外へジャンプした(siglongjmp)

bypass-stays-uplink = デフォルトルートまたはこのセッションが使用中で、対象にすると一時的に途切れることがあります。対象にするには --dev で指定してください
bypass-stays-no-ethernet = イーサネットのインターフェースではありません
bypass-stays-no-xdp = { $interface } のドライバーは、バイパスに必要なネイティブ XDP に対応していません。そのポートまたは下位のインターフェースは対応していることがあります
bypass-stays-other-program = { $interface } にはすでに XDP プログラムがあり、そのまま残しました。`ip link show { $interface }` で確認し、それを使うプログラムを止めるか、別のインターフェースを選んでください
bypass-stays-held = インターフェース { $interface } のキュー { $queue } は別のプログラムが使用中です(AF_XDP)。そのプログラムが終了するか、起動元の終了を検知すると解放されます
bypass-stays-all-gone = バイパス対象のインターフェースはすべて、なくなったか、wireproof の XDP プログラムを外されています
bypass-stays-not-ours = この wireproof bypass が起動したプログラムではありません
bypass-stays-held-by = キューは { $program } (pid { $pid }) が使用中です。同時にバイパスできるのは 1 プロセスだけです
bypass-stays-unanswered = wireproof bypass の応答が { $seconds } 秒間ありませんでした(wireproof bypass が停止しているときなど)
bypass-stays-ended = 応答を待つ間に終了しました
bypass-stays-unusable = 割り当てられたキューを使えませんでした: { $why }
bypass-stays-error = { $why }

bypass-obstacle = { $program } は{ $why }ため、そのソケットはカーネルを経由します
bypass-obstacle-static = 静的にリンクされていて、ライブラリを組み込めない
bypass-obstacle-go = Go のプログラムで、C ライブラリを通さずに自らカーネルを呼び出す
bypass-obstacle-set-id = 起動時に別のユーザーの権限を得るもので(set-user-ID、set-group-ID)、その場合ローダーが外部のライブラリを受け付けない(ld.so(8) の secure-execution モード)
bypass-obstacle-other-machine = 別の種類のマシン用または 32 ビットで、64 ビットのライブラリと合わない
bypass-obstacle-other-libc = 別の C ライブラリ(musl)を使い、glibc 用のライブラリと合わない

bypass-not-set-no-polling = このカーネルはビジーポーリングに対応していないため(CONFIG_NET_RX_BUSY_POLL)、{ $interface } のパケットは割り込みで届きます
bypass-not-set-nothing = カードの設定は変更しません: { $why }
bypass-not-set-setting = { $why }(この設定なしで続けます)
bypass-not-set-rule = { $why }(プログラム宛てのパケットは { $interface } のすべてのキューに届きます)
bypass-not-set-given-back = { $why }

# プログラムの実行中
bypass-stays = { $interface } はバイパスしません: { $why }
bypass-nothing-left = バイパスするインターフェースがありません。すべてカーネルを経由します
bypass-nothing = アドレスを持つ有効なインターフェースがありません。すべてカーネルを経由します。--dev IF で指定してください
bypass-refused = { $program } はカーネルを経由します: { $why }
bypass-waits = プログラムは終了しました。後に残った { $processes } の終了を待ちます
bypass-interface-is-well = { $interface } を再び使えます
bypass-interface-is-down = { $interface } がダウンしています。アップするまで、そのソケットはカーネルを経由します
bypass-interface-is-gone = { $interface } がなくなりました。そのソケットはカーネルを経由します
bypass-interface-is-no-program = { $interface } から wireproof の XDP プログラムが外されました。そのソケットはカーネルを経由します

# 終了時の表示
bypass-sockets = { $count ->
   *[other] ソケット { $count } 個
}
bypass-packets = { $count ->
   *[other] { $count } パケット
}
bypass-datagrams = { $count ->
   *[other] { $count } データグラム
}
bypass-processes = { $count ->
   *[other] { $count } プロセス
}
bypass-more-reasons = { $count ->
   *[other] ほかに { $count } 件の理由(--stats で一覧)
}
bypass-refused-frames = { $count ->
   *[other] 宛先のソケットがない、途中で切り詰められた、送信元がこのマシンのアドレス、またはチェックサムが誤りのフレーム: { $count }
}
bypass-socket = ソケット { $descriptor }({ $ends })
bypass-ends = { $local } → { $peer }
bypass-not-bound = 未バインド
bypass-fate-past = バイパス
bypass-fate-none-did = バイパス可能、データグラムはすべてカーネル経由(宛先がバイパス対象のインターフェースの先にないか、次ホップの MAC アドレスが未解決)
bypass-fate-none-came = バイパス可能、データグラムはすべてカーネル経由(最初の使用の前または fork・exec の前に到着、バイパス対象外のインターフェースに到着、またはフラグメント)
bypass-fate-no-datagrams = バイパス可能、送受信なし
bypass-fate-shut-down = シャットダウンまでバイパス
bypass-fate-left = 途中までバイパス、以後カーネル経由: { $why }
bypass-fate-through = カーネル経由: { $why }
bypass-ways = 受信 { $received }({ $received_bytes } B)、送信 { $sent }({ $sent_bytes } B)
bypass-past = バイパス: { $ways }、キューあふれまたは fork・exec の際の破棄 { $dropped }
bypass-past-left = バイパス: { $ways }、キューあふれまたはカーネルへ戻した際の破棄 { $dropped }
bypass-through = カーネル経由: { $ways }
bypass-port = ポート { $port } の{ $sockets }: { $fate }。バイパス { $past }、破棄 { $dropped }。カーネル経由 { $through }
bypass-beyond = ほかに{ $sockets }: バイパス { $past }、破棄 { $dropped }。カーネル経由 { $through }
bypass-records-agree = XDP がこのプログラムへ振り向けた { $redirected }: すべて記録にある
bypass-records-missing = XDP がこのプログラムへ振り向けた { $redirected }: うち { $packets } は記録にない(ソケットまたはプログラムの終了時に未受信だったか、記録が書き換えられた)
bypass-records-too-many = XDP がこのプログラムへ振り向けた { $redirected }: 記録はこれより { $packets } 多く、書き換えられている
bypass-records-unknown = XDP がこのプログラムへ振り向けた数は読み取れず、記録と照合できない
bypass-handed-back = { $line }。カーネルのキューに戻した分: { $count }(fork、exec、stdio)
bypass-self-reported = 自己申告: 上のソケットの行はプログラム自身の記録です。XDP、キュー、インターフェース、カーネルの数は、プログラムが書いたものではありません
bypass-queue-zero-copy = { $interface } のキュー { $number }: ゼロコピーモード
bypass-queue-copy = { $interface } のキュー { $number }: コピーモード
bypass-queue-ring-full = { $line }、リング満杯 { $count }
bypass-queue-no-frame = { $line }、空きフレームなし { $count }
bypass-queue-dropped = { $line }、破棄 { $count }
bypass-refused-alike = { $program } ほか同じプログラムの { $processes }: { $fate }
bypass-of-others = ほかのプロセスの{ $sockets }: { $fate }
bypass-more-outside = ほかに、キューのないプログラムの{ $sockets }
bypass-unseen = プログラムに組み込んだライブラリは、ソケットを検出していません
bypass-unseen-why = ライブラリはソケットを検出していません: { $why }
bypass-unseen-not-loaded = バイパスするインターフェースがなく、ライブラリを組み込まなかったため、ソケットを検出していません
bypass-taken = XDP によりバイパスした受信: { $packets }
bypass-left-flow = { $line }。プログラムのポート宛てでカーネルに任せた分: { $count }(別のアドレスまたは相手のもの)
bypass-left-large = { $line }。プログラムのポート宛てでカーネルに任せた分: { $count }(フレームより大きいもの)
bypass-left-queue = { $line }。プログラムのポート宛てでカーネルに任せた分: { $count }(ソケットのないキューに届いたもの)
bypass-interface = インターフェース { $interface }: 受信 { $packets }、送信 { $sent }(全プログラムの合計)
bypass-interface-gone = インターフェース { $interface }: 途中でなくなり、カウンターも失われました
bypass-kernel = カーネル自身の UDP カウンター: 受信 { $datagrams }、送信 { $sent }(全プログラムの合計): { $flat }
bypass-kernel-is-flat = ほぼ増えていない
bypass-kernel-is-known = 上に示した分以内
bypass-kernel-is-not = 上に示した分を超えて増えた
bypass-kernel-is-unknown = 上のソケットのうちカーネルを経由したものの分を含む
bypass-of-program = { $program } の{ $socket }: { $fate }
bypass-alike-of-program = { $program } の{ $socket }ほか{ $sockets }: { $fate }
bypass-tcp = TCP は現時点では対象外です: { $sockets }

# 比較の文言。キーは en/ と同じ。

compare-reference = 比較の基準: { $run }
compare-run = 測定: { $run }
compare-rtt-min = RTT 最小
compare-rtt-p50 = RTT p50
compare-rtt-p99 = RTT p99
compare-goodput = 実効スループット
compare-loss = 損失率
compare-path-mtu = 経路MTU
compare-points = { $points } ポイント
compare-interval = { $low } ~ { $high }
compare-at-least = { $low } 以上
compare-at-most = { $high } 以下
finding-better = 改善
finding-worse = 悪化
finding-no-difference = 有意差なし
finding-not-decidable = 判定不可
compare-only-reference = 基準のみで測定: { $configuration }
compare-only-run = この測定のみで測定: { $configuration }
compare-changed = 測定間で変わったもの:
compare-changed-none = 測定値のほかに変わったものはありません(プログラム、測定計画、試験環境、マシンはいずれも同じ)。
compare-nothing-in-common = 共通の構成がありません。時間や回数も含め、測定計画の指定がすべて一致するものだけを同じ構成とみなします。
conclusion-worse = 悪化あり
conclusion-not-decidable = 判定不可
conclusion-nothing-in-common = 共通の構成なし
conclusion-nothing-worse = 悪化なし
compare-tally = { $word }: 悪化 { $worse }、改善 { $better }、有意差なし { $same }、判定不可 { $open }
compare-tolerance = { $tolerance } までの悪化を許容しています。区間全体がこれを超えて悪化したもの: { $beyond }
compare-needed = 測定値 { $open } 件は試行不足です。両方の測定に{ $needed }回ずつあれば必ず足ります(--set repeats={ $needed })。
compare-note-difference = 差は、一方の各試行と他方の各試行との差の中央値(ホッジス・レーマン推定量)で、{ $confidence } 区間(マン・ホイットニー)を添えています。時間とレートは比で、損失率はパーセントポイントで比較します。
compare-note-same = 「有意差なし」は、区間に 0 が含まれ、差が示されなかったことを意味します。試行を増やすと区間は狭くなります。
compare-note-chance = 測定値 { $figures } 件のうち約 { $chance } 件は、実際に差がなくても偶然に差が現れます。
compare-note-runs = 区間が示すのは一つの測定の中での試行間のばらつきであり、測定ごとのばらつきは含みません。変更が原因と判断する前に、両方を交互に測定し直してください。

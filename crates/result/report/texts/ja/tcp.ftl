tcp-seconds-caption = 同じ接続の、計測時間中の1秒ごとの状態。RTTと輻輳ウィンドウは最小から最大まで、再送は全試行を通じた値です。
col-seconds-resending = 再送があった秒数
col-seconds-worst = 1秒間の最大再送数

//! Compare: two systems on the same traffic.

words! {
    CompareWords, compare;

    tab: "Compare", "对比";
    key: "Compare A and B", "对比 A 与 B";
    result: "Result", "结果";
    edit_a: "Edit A", "编辑 A";
    edit_b: "Edit B", "编辑 B";
    lines: "A solid, B dashed", "A 实线，B 虚线";
    as_a: "B is a copy of A so far. Change something in B.", "B 目前与 A 完全相同，改动 B 即可开始对比。";
    as_a_short: "same as A", "与 A 相同";
    changed: "{0} settings differ from A", "与 A 有 {0} 处设置不同";
    both: "B is better in {0} of {2} figures, A in {1}.", "{2} 项指标中，B 较好的有 {0} 项，A 较好的有 {1} 项。";
    unclear: "{0} are not told apart.", "{0} 项尚分不出高下。";
    equal: "A and B are equal in every run.", "A 与 B 每次运行都完全相同。";
    not_yet: "Nothing can be told before two runs of each.", "至少各运行两次才能下结论。";
    runs: "{0} runs of each", "各运行 {0} 次";
    running: "{0} of {1} runs of each", "各运行 {1} 次，已完成 {0} 次";
    cancel: "Stop", "停止";
    run_more: "Run {0} more", "再运行 {0} 次";
    needed: "~{0} more runs", "约需再运行 {0} 次";
    copy_csv: "Copy as CSV", "复制为 CSV";
    all_figures: "All figures", "全部指标";
    figure: "Figure", "指标";
    everything: "All requests", "全部请求";
    settings: "Settings that differ", "不同的设置";
    usual: "none", "无";
    only_in: "Only in {0}, not compared: {1}", "仅 {0} 中有，不参与对比：{1}";
    apart: "At another place in B, so not the very same traffic: {0}", "在 B 中位置不同，流量并非完全一致：{0}";
    method: "Run r of A and of B share every random stream. ± is half of the 95 % interval of the paired differences (Student’s t, each row by itself; * holds for all rows together). Grey: zero is inside. Seed {0}, engine {1}.", "A 与 B 的第 r 次运行使用相同的随机流。± 为配对差值 95% 置信区间的一半（学生 t 分布，逐行成立；带 * 的各行同时成立）。灰色表示区间包含零。种子 {0}，引擎 {1}。";
    b_better: "B is better", "B 较好";
    a_better: "A is better", "A 较好";
    b_more: "B has more", "B 较大";
    b_less: "B has less", "B 较小";
    zero_inside: "not told apart", "分不出高下";
    no_difference: "equal in every run", "每次都相同";
    too_few: "too few runs", "次数不足";
    goodput: "Goodput", "有效吞吐";
    turned_away: "Turned away", "被拒绝";
    response: "Response, mean", "响应均值";
    response_p50: "Response, p50", "响应 p50";
    response_p95: "Response, p95", "响应 p95";
    response_p99: "Response, p99", "响应 p99";
    wait: "Wait, mean", "等待均值";
    wait_p50: "Wait, p50", "等待 p50";
    wait_p95: "Wait, p95", "等待 p95";
    wait_p99: "Wait, p99", "等待 p99";
    off_target: "Waits off target", "等待偏离目标";
    server_spread: "Spread of servers", "服务器忙闲差";
    wait_ratio: "Wait ratio / target", "等待比 ÷ 目标";
    busy: "Busy", "忙碌";
    share: "Share of requests", "请求占比";
}

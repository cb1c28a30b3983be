//! Why one request, refusal or pick went as it did.

words! {
    RecordWords, record;

    title: "One request: {0}", "一个请求：{0}";
    looking: "Looking for it…", "正在查找…";
    nobody: "There is no such request up to this moment.", "到此刻为止没有这样的请求。";
    about: "Followed through the same run, from its arrival to its end. A time takes you there.", "在同一次运行里从到达一直跟到结束。点时间可跳到那一刻。";
    follow_first: "Follow the next in line", "跟踪队首的请求";
    follow_last: "Follow the last in line", "跟踪队尾的请求";
    follow_refused: "Follow the last turned away", "跟踪最近被拒绝的请求";
    follow_sent: "Follow the last sent to {0}", "跟踪最近发往 {0} 的请求";
    refused_of: "{0}: {1} a second turned away; follow the last one", "{0}：每秒拒绝 {1} 个，跟踪最近一个";
    comes: "Comes to {0}, where {1} wait, {2} of them at its level or above.", "来到{0}：{1} 个在等，其中 {2} 个与它同级或更高。";
    average: "The average is {0}. From {1} to {2} the chance rises to {3}: here {4}.", "平均值是 {0}。从 {1} 到 {2}，拒绝概率升到 {3}，此处为 {4}。";
    gauge: "It goes by {0}; the target is {1}.", "依据是 {0}，目标是 {1}。";
    spaced: "Spacing refusals out makes that {0} for this one.", "为使拒绝均匀分布，对它取 {0}。";
    coin_in: "Its draw is {0}, not below {1}: let in.", "它抽到 {0}，不小于 {1}：放行。";
    coin_out: "Its draw is {0}, below {1}: turned away.", "它抽到 {0}，小于 {1}：拒绝。";
    no_wait: "A worker is free: no limit applies.", "有空闲线程，不受限制。";
    sure_in: "Nobody is turned away: let in.", "此刻谁都不拒绝：放行。";
    sure_out: "Everybody is turned away here, whatever the draw.", "此处无论抽到多少都拒绝。";
    moves: "Moved up to level {0}.", "提升到第 {0} 级。";
    taken: "A worker of {0} takes it, {1} after it came here.", "{0}的线程接手，来此后 {1}。";
    taken_at_once: "A worker of {0} takes it at once.", "{0}的线程立即接手。";
    sent: "Goes to {0}.", "发往 {0}。";
    judged_by: "Judged by: {0}.", "比较：{0}。";
    answered: "Answered, {0} after it came.", "已回复，共用 {0}。";
    failed: "The server failed with it, {0} after it came.", "服务器处理失败，共用 {0}。";
    abandoned: "Its client left, {0} after it came.", "客户端离开，共用 {0}。";
    away_early: "Turned away by chance.", "按概率被拒绝。";
    away_full: "Turned away: no room.", "被拒绝：没有空位。";
    away_forced: "Turned away: the door is shut.", "被拒绝：大门已关。";
    away_deadline: "Given up: its deadline passed while it waited.", "放弃：等待中过了截止时间。";
    unfinished: "The run ends before it does.", "运行在它之前结束。";
    formula: "The formula, and where it comes from", "公式与出处";
}

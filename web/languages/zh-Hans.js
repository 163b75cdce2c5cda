// 简体中文

const NOUNS = {
  visit: '访问',
  like: '点赞',
  bookmark: '收藏',
  follow: '关注',
  comment: '评论',
  publish: '发布',
  adjust: '积分调整',
}

export const docs = {
  locale: 'zh-CN',
  title: 'API 参考',
  leaderboard: '排行榜',
  language: '语言',
  dark: '深色',
  code: '代码',
  more: '显示更多',
  schemas: '数据模型',
  failed: (reason) => `无法加载 API 文档：${reason}。`,
}

/** @type {import('../elements/types.d.ts').Texts} */
export const elements = {
  label: '排行榜',
  periods: '周期',
  day: '日榜',
  week: '周榜',
  month: '月榜',
  year: '年榜',
  all: '总榜',
  earlier: '上一期',
  later: '下一期',
  rank: '排名',
  member: '成员',
  points: '积分',
  members: (_count, n) => `${n} 位成员`,
  empty: '暂无人上榜。',
  expired: '无人上榜，或数据已过期。',
  you: '我的排名',
  unranked: '尚未上榜。',
  up: (n) => `较上次访问上升 ${n} 名`,
  down: (n) => `较上次访问下降 ${n} 名`,
  next: (_points, p, rank) => `距第 ${rank} 名还差 ${p} 分`,
  first: '暂居第一',
  top: (n) => `前 ${n}%`,
  stale: (time) => `更新有延迟，数据截至 ${time}。`,
  offline: (time) => `您已离线，数据截至 ${time}。`,
  failed: (time) => `刷新失败，数据截至 ${time}。`,
  nothing: '排行榜加载失败。',
  activity: '活跃记录',
  day_points: (date, _points, p) => `${date}：${p} 分`,
  done: (action, _count, n, _points, p) => `${NOUNS[action] ?? action} ${n} 次，${p} 分`,
  streak: (current, longest) => `连续活跃 ${current} 天（最长 ${longest} 天）。`,
  summary: (days, _points, p, of) => `最近 ${of} 天中有 ${days} 天活跃，共 ${p} 分。`,
  unknown: '活跃记录加载失败。',
}

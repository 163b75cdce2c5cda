// The page's languages. That of the elements follows.

export const WORDS = {
  en: {
    title: 'Activity ranking',
    api: 'API',
    health: 'Health',
    nothing: 'The boards cannot be loaded.',
    member: 'As a member',
    token: 'A user token (JWT)',
    enter: 'Sign in',
    as: 'Signed in as',
    leave: 'Sign out',
    target: 'What it is done to',
    snippets: 'On your site',
    copy: 'Copy',
    copied: 'Copied',
    selected: 'Now press Ctrl+C',
    undo: 'Undo',
    like: 'Like',
    bookmark: 'Bookmark',
    comment: 'Comment',
    not_token: 'This is no user token.',
    html: 'A board (HTML)',
    script: 'What members do (JavaScript)',
    curl: 'From a server (curl)',
    taken_back: (name) => `${name}, taken back`,
    waits: (why) => `Waits to be sent: ${why}`,
    failed: (name, why) => `${name}: ${why}`,
    place: (points, rank) => (rank ? `Today: ${points} points, rank ${rank}.` : 'Today: no points.'),
    outcomes: {
      counted: 'counted',
      duplicate: 'counted before',
      undone: 'undone',
      'nothing-to-undo': 'there is nothing to take back',
      capped: 'no more of it counts now',
      stale: 'something later decides',
      queued: 'accepted, and counted later',
    },
    told: (name, outcome, points) => `${name}: ${outcome}${points ? `, ${points} points` : ''}.`,
  },
  'zh-CN': {
    title: '活跃榜',
    api: 'API 文档',
    health: '运行状态',
    nothing: '排行榜无法加载。',
    member: '成员视角',
    token: '用户令牌（JWT）',
    enter: '登录',
    as: '已登录：',
    leave: '退出',
    target: '操作对象',
    snippets: '嵌入您的网站',
    copy: '复制',
    copied: '已复制',
    selected: '请按 Ctrl+C',
    undo: '撤销',
    like: '点赞',
    bookmark: '收藏',
    comment: '评论',
    not_token: '这不是有效的用户令牌。',
    html: '排行榜（HTML）',
    script: '成员行为（JavaScript）',
    curl: '服务器调用（curl）',
    taken_back: (name) => `撤销${name}`,
    waits: (why) => `等待发送：${why}`,
    failed: (name, why) => `${name}：${why}`,
    place: (points, rank) => (rank ? `今日 ${points} 分，第 ${rank} 名。` : '今日尚无积分。'),
    outcomes: {
      counted: '已计入',
      duplicate: '此前已计入',
      undone: '已撤销',
      'nothing-to-undo': '没有可撤销的记录',
      capped: '已达上限，暂不计分',
      stale: '已有更新的操作',
      queued: '已受理，稍后计入',
    },
    told: (name, outcome, points) => `${name}：${outcome}${points ? `，${points} 分` : ''}。`,
  },
}

const KEPT = 'activity-rank language'

/** The reader's language: as they chose it, else that of their browser. */
export function chosen() {
  let tag = navigator.language
  try {
    tag = localStorage.getItem(KEPT) ?? tag
  } catch {
    // No storage, no memory.
  }
  return /^zh\b/i.test(tag) ? 'zh-CN' : 'en'
}

export function choose(tag) {
  try {
    localStorage.setItem(KEPT, tag)
  } catch {
    // As above.
  }
}

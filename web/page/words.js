// Texts of the page in each language. The elements have their own.

/** @typedef {'counted' | 'duplicate' | 'undone' | 'nothing-to-undo' | 'capped' | 'stale' | 'queued'} OutcomeName */

/**
 * @typedef {object} Words
 * @property {Record<string, string>} labels by `data-word`
 * @property {Record<string, string>} actions
 * @property {string} separator between sentences
 * @property {(name: string) => string} undo
 * @property {(reason: string) => string} waiting
 * @property {(name: string, reason: string) => string} failed
 * @property {(points: string, rank: string | null) => string} standing
 * @property {Record<OutcomeName, (name: string, points: string) => string>} outcomes
 */

/** @type {Record<string, Words>} */
export const WORDS = {
  en: {
    labels: {
      title: 'Activity ranking',
      api: 'API',
      health: 'Status',
      nothing: 'Could not load the leaderboard.',
      member: 'Try it as a member',
      token: 'User token (JWT)',
      enter: 'Sign in',
      as: 'Signed in as',
      leave: 'Sign out',
      target: 'Target',
      snippets: 'Add it to your site',
      copy: 'Copy',
      copied: 'Copied',
      selected: 'Press Ctrl+C',
      undo: 'Undo',
      invalid_token: 'Invalid token.',
      html: 'Leaderboard (HTML)',
      script: 'Tracking (JavaScript)',
      curl: 'From a server (curl)',
    },
    actions: { like: 'Like', bookmark: 'Bookmark', comment: 'Comment' },
    separator: ' ',
    undo: (name) => `Undo ${name.toLowerCase()}`,
    waiting: (reason) => `Waiting to send. ${reason}`,
    failed: (name, reason) => `${name} failed. ${reason}`,
    standing: (points, rank) => (rank ? `Today: ${points} points, rank ${rank}.` : 'Today: no points.'),
    outcomes: {
      counted: (name, points) => `${name} counted: ${points} points.`,
      duplicate: (name) => `${name} already counted.`,
      undone: (name, points) => `${name} undone: ${points} points.`,
      'nothing-to-undo': (name) => `No ${name.toLowerCase()} to undo.`,
      capped: (name) => `${name} not counted: limit reached.`,
      stale: (name) => `${name} not counted: superseded by a later action.`,
      queued: (name) => `${name} queued. It will be counted shortly.`,
    },
  },
  'zh-CN': {
    labels: {
      title: '活跃榜',
      api: 'API 文档',
      health: '服务状态',
      nothing: '排行榜加载失败。',
      member: '以成员身份体验',
      token: '用户令牌（JWT）',
      enter: '登录',
      as: '已登录：',
      leave: '退出登录',
      target: '操作对象',
      snippets: '嵌入您的网站',
      copy: '复制',
      copied: '已复制',
      selected: '请按 Ctrl+C',
      undo: '撤销',
      invalid_token: '令牌无效。',
      html: '排行榜（HTML）',
      script: '记录用户行为（JavaScript）',
      curl: '服务端调用（curl）',
    },
    actions: { like: '点赞', bookmark: '收藏', comment: '评论' },
    separator: '',
    undo: (name) => `撤销${name}`,
    waiting: (reason) => `等待发送：${reason}`,
    failed: (name, reason) => `${name}失败：${reason}`,
    standing: (points, rank) => (rank ? `今日 ${points} 分，排名第 ${rank}。` : '今日暂无积分。'),
    outcomes: {
      counted: (name, points) => `${name}已计入：${points} 分。`,
      duplicate: (name) => `${name}已计入过，不重复计分。`,
      undone: (name, points) => `${name}已撤销：${points} 分。`,
      'nothing-to-undo': (name) => `没有可撤销的${name}。`,
      capped: (name) => `${name}未计分：已达上限。`,
      stale: (name) => `${name}未计分：已被后续操作取代。`,
      queued: (name) => `${name}已受理，稍后计分。`,
    },
  },
}

/** Returns the texts of the page's current language. */
export const words = () => WORDS[document.documentElement.lang] ?? WORDS.en

const STORAGE_KEY = 'activity-rank language'

/** Returns the language that the reader selected, or the browser's. */
export function preferredLanguage() {
  let tag = navigator.language
  try {
    tag = localStorage.getItem(STORAGE_KEY) ?? tag
  } catch {
    // Storage is unavailable.
  }
  return /^zh\b/i.test(tag) ? 'zh-CN' : 'en'
}

/**
 * Stores the language that the reader selected.
 * @param {string} tag
 */
export function storeLanguage(tag) {
  try {
    localStorage.setItem(STORAGE_KEY, tag)
  } catch {
    // Storage is unavailable.
  }
}

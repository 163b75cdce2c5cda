// The community whose activity fills the boards: its members with invented names, and its posts with invented titles. The
// data has numbers alone. And the achievements that it can earn.

import { readFileSync } from 'node:fs'

const FIRST = (
  'Ada Alan Amina Barbara Chen Diego Edsger Emmy Fatima Grace Hedy Ines ' +
  'Jun Katherine Leila Margaret Niklaus Olga Priya Radia Sofia Tariq Ursula Yuki'
).split(' ')
const LAST = (
  'Adler Bauer Costa Dubois Eriksen Fischer Garcia Haddad Ivanova Jensen Khan Larsen ' +
  'Moreau Nakamura Okafor Petrov Quispe Rossi Schmidt Tanaka Umarov Vega Wang Zhou'
).split(' ')
const NAMES = { 8: '王小明', 17: 'ليلى حداد', 23: '李四光', 31: 'Александра Петрова' }
const QUESTIONS = ['How do I', 'When should I', 'Is it possible to', 'What is the best way to', 'Why would I', 'Can I']
const VERBS = 'measure simulate entangle correct compare prepare reset teleport factor clone'.split(' ')
const THINGS = [
  ...['a qubit', 'two qubits', 'a Bell state', 'a noisy gate', 'a large circuit', 'an unknown state', 'a phase'],
  ...['an oracle', 'a density matrix', 'the surface code', 'a random walk'],
]

const text = (/** @type {string} */ en, /** @type {string} */ zh) => ({ en, 'zh-Hans': zh })

/** The variable `ACHIEVEMENTS` of a configuration that has no rules and no achievements of its own. */
export const ACHIEVEMENTS = {
  author: {
    name: text('Author', '作者'),
    description: text('Publish questions and answers.', '发布问题和回答。'),
    icon: 'rocket',
    steps: [1, 10, 50, 100],
    count: 'publish',
  },
  commenter: {
    name: text('Commenter', '评论者'),
    description: text('Comment on posts.', '评论帖子。'),
    icon: 'comment',
    steps: [1, 10, 50, 100],
    count: 'comment',
  },
  collector: {
    name: text('Collector', '收藏家'),
    description: text('Bookmark posts.', '收藏帖子。'),
    icon: 'star',
    steps: [1, 10, 100],
    count: 'bookmark',
  },
  appreciated: {
    name: text('Appreciated', '受欢迎'),
    description: text('Receive points for your posts.', '发布的内容获得积分。'),
    icon: 'heart',
    steps: [10, 100, 500],
    received: true,
  },
  faithful: {
    name: text('Faithful', '坚持不懈'),
    description: text('Be active on consecutive days.', '连续多日保持活跃。'),
    icon: 'flame',
    steps: [3, 7, 14, 30],
    streak: 'days',
  },
  resident: {
    name: text('Resident', '老成员'),
    description: text('Days since your first activity.', '距首次活动的天数。'),
    icon: 'calendar',
    steps: [30, 100, 365],
    member_since: 'days',
  },
  pillar: {
    name: text('Pillar of the community', '社区支柱'),
    description: text('Reach this many points.', '积分达到这一数目。'),
    icon: 'trophy',
    steps: [100, 500, 1000, 2000],
    points: true,
  },
}

/**
 * Returns the profiles of all members as JSON lines.
 * @param {string} file of their activities
 */
export function profiles(file) {
  const ids = [...new Set(activities(file).map(({ user }) => user))]
  return ids.map((id, index) => {
    // 24 is coprime to 5, so each of the 576 pairs has one number.
    const pair = `${FIRST[(5 * index) % FIRST.length]} ${LAST[Math.floor(index / FIRST.length + index) % LAST.length]}`
    return JSON.stringify({ id, name: NAMES[/** @type {8} */ (Number(id))] ?? pair })
  })
}

/**
 * Returns the activities as JSON lines, at other times: the last one happens now.
 * @param {string} file
 */
export function shiftToNow(file) {
  const all = activities(file)
  const shift = Date.now() - Date.parse(all.at(-1)?.at ?? '')
  const shifted = all.map((item) => ({ ...item, at: new Date(Date.parse(item.at) + shift).toISOString() }))
  const lines = (/** @type {boolean} */ published) =>
    shifted.filter(({ action }) => (action === 'publish') === published).map((item) => JSON.stringify(item))
  return { publications: lines(true), others: lines(false) }
}

/**
 * Returns the posts that were published, each with a title and its author, as JSON lines.
 * @param {string} file of the activities
 */
export function targets(file) {
  return activities(file)
    .filter(({ action }) => action === 'publish')
    .map(({ user, target }) => {
      const number = Number(target.replace('post-', ''))
      const pick = (/** @type {string[]} */ list, /** @type {number} */ step) =>
        list[Math.floor(number / step) % list.length]
      const title = `${pick(QUESTIONS, 1)} ${pick(VERBS, 2)} ${pick(THINGS, 3)}?`
      return JSON.stringify({ id: target, title, author: user })
    })
}

/**
 * @param {string} file
 * @returns {{ at: string, user: string, action: string, target: string }[]}
 */
const activities = (file) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

// A leaderboard. Properties are attributes of the element; the children are for readers without JavaScript.

const deployment = process.env.NEXT_PUBLIC_ACTIVITY_RANK

export function ActivityRank({ children = 'The most active members', ...attributes }) {
  if (!deployment) throw new Error('NEXT_PUBLIC_ACTIVITY_RANK is not set: the address of the deployment.')
  return (
    <>
      {/* React moves it into the head, once for a page. */}
      <script type="module" async src={`${deployment}/elements/activity-rank.js`} />
      <activity-rank {...attributes}>{children}</activity-rank>
    </>
  )
}

import { ActivityRank } from '../components/activity-rank.jsx'

export default function Page() {
  return (
    <main>
      <h1>Members</h1>
      <ActivityRank period="week" limit="5" />
    </main>
  )
}

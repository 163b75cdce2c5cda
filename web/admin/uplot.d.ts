// The parts of uPlot that the admin page uses. Browsers never load this file.

type Path = (chart: uPlot, series: number, from: number, to: number) => unknown

export default class uPlot {
  static paths: { bars(options: { size: [number, number]; radius?: number }): Path }
  constructor(options: object, data: (number | null)[][], target: HTMLElement)
  cursor: { idx: number | null }
  setSize(size: { width: number; height: number }): void
  redraw(rebuildPaths?: boolean): void
  destroy(): void
}

/**
 * A hint that something became of a container, or of a sandbox, which runtimes report alike. Nothing more: it may be
 * old (containerd replays what it kept while nobody listened), doubled or missing, so it is a reason to read the status
 * and never a status.
 */
export interface RuntimeEvent {
  /** `stopped` also where the kernel killed something inside and the container may go on. */
  kind: "created" | "started" | "stopped" | "deleted";
  /** The id of a container or a sandbox. */
  containerId: string;
  /** Where it is known without asking. */
  podUid?: string;
}

export interface RuntimeEvents {
  /**
   * Events from now on; ends when the signal fires and never by itself: a broken stream is opened again, with back-off.
   * One subscriber at a time, since some runtimes share one queue among all.
   *
   * `onConnected(true)` says that changes from now on will be reported, so a relist that begins after it sees what came
   * before; `onConnected(false)` that events may be missed until the next `true`.
   */
  subscribe(signal: AbortSignal, onConnected?: (connected: boolean) => void): AsyncIterable<RuntimeEvent>;
}

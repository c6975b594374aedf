/**
 * A hint that a container changed, or a sandbox, which runtimes report alike. It is only a hint: it may be old
 * (containerd replays events that it kept while there was no listener), doubled or missing. So it is a reason to read
 * the status and never a status.
 */
export interface RuntimeEvent {
  /** `stopped` is also used where the kernel killed something inside and the container may go on. */
  kind: "created" | "started" | "stopped" | "deleted";
  /** The id of a container or a sandbox. */
  containerId: string;
  /** It is set where it is known without a call. */
  podUid?: string;
}

export interface RuntimeEvents {
  /**
   * Yields events from now on. It ends when the signal fires and never by itself: a broken stream is opened again, with
   * back-off. There may be one subscriber at a time, since some runtimes share one queue among all.
   *
   * `onConnected(true)` says that changes from now on will be reported, so a relist that begins after it sees
   * everything that came before. `onConnected(false)` says that events may be missed until the next `true`.
   */
  subscribe(signal: AbortSignal, onConnected?: (connected: boolean) => void): AsyncIterable<RuntimeEvent>;
}

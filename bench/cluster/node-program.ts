/** A node agent that can be made a node of the cluster. */
export interface NodeProgram {
  /** As the report calls it. */
  name: string;
  /** The node's name: two programs are two nodes, so that neither takes the other's pods for its own. */
  nodeName: string;
  /** kubelet's `--root-dir`. */
  rootDirectory: string;
  /**
   * As a node that the cluster does not know yet; resolves when a watcher sees that it is ready. As a node that it knows, with
   * its pods, it resolves at once, and is ready after no time.
   */
  start(options?: { rejoins: boolean }): Promise<NodeProcess>;
}

/** One that runs. */
export interface NodeProcess {
  readonly pid: number;
  /** From the start of the process until a watcher saw the node ready, in milliseconds. */
  readonly readyAfterMs: number;
  /** SIGSTOP: it cannot slow what others do meanwhile. */
  pause(): void;
  /** SIGCONT; resolves when it has looked at what happened meanwhile. */
  resume(): Promise<void>;
  /** The text of its `/metrics`. */
  metrics(): Promise<string>;
  /** What it answers for another path, without credentials. */
  read(path: string): Promise<string>;
  /** SIGTERM; resolves when it has ended. Its pods run on. */
  stop(): Promise<void>;
  /** SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
}

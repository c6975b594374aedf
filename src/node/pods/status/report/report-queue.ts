import { isAbort, untilAborted } from "../../../../base/abort.ts";
import { assert } from "../../../../base/assert.ts";
import { runWithTasks, type Tasks } from "../../../../base/tasks.ts";

/**
 * The pods of which something is to be sent, one task at a time for each:
 *
 *               add            a task starts            add
 *     (none) ────────► due ──────────────────► working ─────► working-due
 *       ▲               ▲                       │    ▲          │     │
 *       └───────────────┼──── the task ends ────┘    └── take ──┘     │
 *                       └──────────── the task ends (it failed) ──────┘
 *
 * `remove` takes back what is due and leaves a task alone. A task starts in `working-due`, since the reason for it is
 * not taken yet.
 */
type Turn = "due" | "working" | "working-due";

/** One pod's task: sends as long as `take` says that something is to be sent. */
interface ReportTask {
  readonly uid: string;
  readonly signal: AbortSignal;
  /** True where something is to be sent, which counts as sent from now on. */
  take(): boolean;
}

interface ReportQueue {
  /** Something of the pod is to be sent; it waits for the pod's task, and for `serve`. */
  add(uid: string): void;
  remove(uid: string): void;
  isDue(uid: string): boolean;
  /** Pods of which something is to be sent. */
  uids(): string[];
  /** Runs `until` and, meanwhile, the tasks of the pods that are added; returns when none runs any more. */
  serve(signal: AbortSignal, until: (signal: AbortSignal) => Promise<void>): Promise<void>;
  readonly isServed: boolean;
  /** Starts tasks for the pods that were added before `serve`. */
  startDue(): void;
  /** Resolves when no task runs, or the signal fires. */
  untilIdle(signal: AbortSignal): Promise<void>;
}

export function createReportQueue(run: (task: ReportTask) => Promise<void>): ReportQueue {
  const turns = new Map<string, Turn>();
  const listeners = new Set<() => void>();
  let served: { signal: AbortSignal; tasks: Tasks } | undefined;

  const enter = (uid: string, turn: Turn | undefined): void => {
    if (turn === undefined) turns.delete(uid);
    else turns.set(uid, turn);
  };

  const take = (uid: string): boolean => {
    const isDue = turns.get(uid) === "working-due";
    if (isDue) enter(uid, "working");
    return isDue;
  };

  const work = async (uid: string, signal: AbortSignal): Promise<void> => {
    try {
      await run({ uid, signal, take: () => take(uid) });
    } finally {
      enter(uid, turns.get(uid) === "working-due" ? "due" : undefined);
      if (isIdle(turns)) for (const listener of [...listeners]) listener();
    }
  };

  const start = (uid: string): void => {
    if (served === undefined || served.signal.aborted || turns.get(uid) !== "due") return;
    const { signal, tasks } = served;
    enter(uid, "working-due");
    tasks.spawn(`sending the status of pod ${uid}`, async () => await work(uid, signal));
  };

  return {
    add(uid) {
      enter(uid, isWorking(turns.get(uid)) ? "working-due" : "due");
      start(uid);
    },
    remove(uid) {
      enter(uid, isWorking(turns.get(uid)) ? "working" : undefined);
    },
    isDue: (uid) => isDue(turns.get(uid)),
    uids: () => [...turns].flatMap(([uid, turn]) => (isDue(turn) ? [uid] : [])),
    async serve(signal, until) {
      assert(served === undefined, "statuses are sent by one at a time");
      try {
        await runWithTasks(signal, async (tasks, own) => {
          served = { signal: own, tasks };
          await until(own);
        });
      } finally {
        served = undefined;
      }
    },
    get isServed() {
      return served !== undefined;
    },
    startDue() {
      for (const uid of [...turns.keys()]) start(uid);
    },
    async untilIdle(signal) {
      if (isIdle(turns)) return;
      let listener: () => void = () => undefined;
      const idle = new Promise<void>((resolve) => {
        listener = resolve;
      });
      listeners.add(listener);
      try {
        await untilAborted(idle, signal);
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        listeners.delete(listener);
      }
    },
  };
}

function isDue(turn: Turn | undefined): boolean {
  return turn === "due" || turn === "working-due";
}

function isWorking(turn: Turn | undefined): boolean {
  return turn === "working" || turn === "working-due";
}

function isIdle(turns: ReadonlyMap<string, Turn>): boolean {
  return ![...turns.values()].some(isWorking);
}

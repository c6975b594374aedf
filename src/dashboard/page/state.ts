import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { LiveKind, LiveObjects } from "../model/live-message.ts";
import type { FollowedKind } from "../model/object-table.ts";
import type { Live, ServerStanding } from "./live.ts";

/** What the whole page follows. */
export const LiveContext = createContext<Live | undefined>(undefined);

/** The objects of a kind; the component is drawn anew when anything changes. */
export function useTable<K extends LiveKind>(kind: K): FollowedKind<LiveObjects[K]> {
  return useLive().tables.table(kind);
}

/** How the page stands with its server. */
export function useConnection(): ServerStanding {
  return useLive().connection();
}

function useLive(): Live {
  const live = useContext(LiveContext);
  const [, draw] = useState(0);
  useEffect(() => live?.subscribe(() => draw((count) => count + 1)), [live]);
  if (live === undefined) throw new Error("a component stands outside of the page");
  return live;
}

/** The time, which goes on with the seconds: one timer for all that show an age. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    watchers.add(setNow);
    if (watchers.size === 1) ticker = setInterval(tick, 1_000);
    return () => {
      watchers.delete(setNow);
      if (watchers.size === 0) clearInterval(ticker);
    };
  }, []);
  return now;
}

const watchers = new Set<(now: number) => void>();
let ticker: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  const now = Date.now();
  for (const watcher of watchers) watcher(now);
}

/** The answers to a question that is asked again and again. */
interface Asked<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
}

interface Question<T> {
  /** What it is about: the last answer stays while this does. */
  readonly subject: string;
  /** It is asked at once when this changes. */
  readonly version?: string | undefined;
  readonly periodMs: number;
  ask(signal: AbortSignal): Promise<T>;
}

/** Asks at once and then again and again, while the component is there. */
export function useAsked<T>({ subject, version, periodMs, ask }: Question<T>): Asked<T> {
  const [asked, setAsked] = useState<Asked<T> & { readonly subject: string }>({ ...NOTHING, subject });
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      try {
        const value = await ask(controller.signal);
        if (!controller.signal.aborted) setAsked({ subject, value, problem: undefined });
      } catch (error) {
        if (controller.signal.aborted) return;
        const problem = error instanceof Error ? error.message : String(error);
        setAsked((before) => ({ subject, value: before.subject === subject ? before.value : undefined, problem }));
      }
      if (!controller.signal.aborted) timer = setTimeout(start, periodMs);
    };
    const start = () => {
      run().catch(reportError);
    };
    start();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [subject, version]);
  return asked.subject === subject ? asked : NOTHING;
}

const NOTHING = { value: undefined, problem: undefined };

import { sleep, throwIfAborted } from "../../base/abort.ts";
import { computeBackOff } from "../../base/back-off.ts";
import { createChangeFlag } from "../../base/change-flag.ts";
import { type Clock, MINUTE, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createMailbox } from "../../base/mailbox.ts";
import { runWithTasks } from "../../base/tasks.ts";
import type { AddressFamily } from "../rules/fragment.ts";
import type { RuleCompiler, RuleInput, StaleFlow } from "../rules/rule-compiler.ts";
import { createRuleTable, type RuleTable } from "../rules/rule-table.ts";
import type { Nftables } from "./nftables.ts";
import { createTableCheck } from "./table-check.ts";

/** Keeps the rules of the kernel as the compilers want them. */
interface ApplyLoop {
  /** Takes changes of objects, for the next turn. */
  offer(changes: readonly RuleInput[]): void;
  /** Works until the signal fires. The first turn makes the tables anew from all that was offered until then. */
  run(signal: AbortSignal): Promise<void>;
}

interface ApplyDeps {
  readonly nftables: Nftables;
  readonly compilers: readonly RuleCompiler[];
  readonly clock: Clock;
  readonly log: Log;
  /** It is called beside the turns, once at a time, because a kernel with many connections takes long. */
  readonly forgetFlows: (flows: readonly StaleFlow[], signal: AbortSignal) => Promise<void>;
  /** Called after each turn. */
  readonly onTurn: (turn: AppliedTurn) => Promise<void>;
}

interface ApplyOptions {
  readonly families: readonly AddressFamily[];
  /** The name of the table of each family. */
  readonly table: string;
  /**
   * How long rules that somebody else changed stay changed. Where the check of so many rules takes long, the period is
   * longer: checks take a thirtieth of the time at most.
   */
  readonly checkPeriodMs: number;
}

/** What a turn did, for metrics. */
export interface AppliedTurn {
  readonly startedAt: number;
  readonly durationMs: number;
  readonly isOk: boolean;
  readonly isWhole: boolean;
  readonly changes: readonly RuleInput[];
  /** The statements of the transaction. */
  readonly statements: number;
}

/** A healthy machine takes a second for thousands of services. */
const SLOW_MS = 10 * SECOND;
/** So many times as long as a check took, nothing is checked after it. */
const REST_AFTER_CHECK = 29;
/** Rules that somebody else changed stay changed for no longer, however long a check takes. */
const MAX_CHECK_PERIOD_MS = 10 * MINUTE;
const RETRY = { initialMs: SECOND, maxMs: 30 * SECOND };

/**
 * Creates the loop. It applies what changed as soon as it hears of it, everything that was heard meanwhile in the next
 * transaction. A transaction that fails is followed by one that makes the tables anew.
 */
export function createApplyLoop(deps: ApplyDeps, options: ApplyOptions): ApplyLoop {
  const { nftables, compilers, clock, log, forgetFlows, onTurn } = deps;
  const changed = createChangeFlag(clock);
  const tables = new Map(options.families.map((family) => [family, createRuleTable(family, options.table)]));
  const check = createTableCheck({ nftables, log }, { table: options.table, tables });
  let pending: RuleInput[] = [];
  /** Each once, however often it comes while the rules cannot be applied. */
  const unforgotten = new Map<string, StaleFlow>();
  const canForget = createMailbox<"rules are in force">(1);
  let isWhole = true;
  let failures = 0;
  let nextCheckAt = clock.monotonic() + options.checkPeriodMs;

  const compile = (changes: readonly RuleInput[]): string[] => {
    // One service may have more statements than a call may have arguments.
    const statements: (readonly string[])[] = [];
    for (const compiler of compilers) {
      const { fragments, staleFlows } = compiler.compile(changes.filter(({ kind }) => compiler.kinds.includes(kind)));
      for (const flow of staleFlows) unforgotten.set(JSON.stringify(flow), flow);
      for (const [family, table] of tables) statements.push(table.change(fragments[family]));
    }
    return isWhole ? wholeOf(tables.values()) : statements.flat();
  };

  const apply = async (statements: readonly string[], signal: AbortSignal): Promise<boolean> => {
    const slow = clock.setTimer(SLOW_MS, () => {
      log.warn("nft has not answered yet, the rules of services wait for it", { waitedMs: SLOW_MS });
    });
    try {
      await nftables.apply(statements, signal);
    } catch (error) {
      throwIfAborted(signal);
      failures += 1;
      isWhole = true;
      log.error("the rules of services are not up to date", { error: messageOf(error), failures });
      return false;
    } finally {
      slow.cancel();
    }
    if (failures > 0) log.info("the rules of services are up to date again");
    failures = 0;
    isWhole = false;
    return true;
  };

  const turn = async (signal: AbortSignal) => {
    const startedAt = clock.now();
    const from = clock.monotonic();
    const changes = pending;
    const wasWhole = isWhole;
    pending = [];
    const statements = compile(changes);
    const isOk = await apply(statements, signal);
    const durationMs = clock.monotonic() - from;
    await onTurn({ startedAt, durationMs, isOk, isWhole: wasWhole, changes, statements: statements.length });
    if (isOk && unforgotten.size > 0) canForget.offer("rules are in force");
  };

  const forget = async (signal: AbortSignal) => {
    for (;;) {
      await canForget.take(signal);
      const flows = [...unforgotten.values()];
      unforgotten.clear();
      await forgetFlows(flows, signal);
    }
  };

  const isIntact = async (signal: AbortSignal): Promise<boolean> => {
    const from = clock.monotonic();
    const result = await check.isIntact(signal);
    const restMs = Math.min(REST_AFTER_CHECK * (clock.monotonic() - from), MAX_CHECK_PERIOD_MS);
    nextCheckAt = Math.max(from + options.checkPeriodMs, clock.monotonic() + restMs);
    return result;
  };

  /** Waits for a change. Looks at the kernel's rules when that is due, however many changes there are. */
  const untilWork = async (signal: AbortSignal) => {
    for (;;) {
      if (clock.monotonic() >= nextCheckAt) isWhole = !(await isIntact(signal));
      if (pending.length > 0 || isWhole) return;
      await changed.wait(Math.max(nextCheckAt - clock.monotonic(), 0), signal);
    }
  };

  return {
    offer(changes) {
      pending = pending.concat(changes);
      changed.raise();
    },
    run: async (signal) =>
      await runWithTasks(signal, async (tasks, inner) => {
        tasks.spawn("stale flows", async () => await forget(inner));
        for (;;) {
          await turn(inner);
          throwIfAborted(inner);
          if (failures > 0) await sleep(clock, computeBackOff(failures, RETRY), inner);
          else await untilWork(inner);
        }
      }),
  };
}

function wholeOf(tables: Iterable<RuleTable>): string[] {
  return [...tables].flatMap((table) => table.whole());
}

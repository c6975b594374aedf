import { codeOf } from "../../base/errors.ts";
import { runCommand } from "../processes/run-command.ts";

/** Reads and changes the rules of one table. Rejects with a CodedError of `runCommand`. */
export interface RuleAccess {
  /** Returns the text that `iptables -S` prints. */
  list(): Promise<string>;
  /** Changes one rule or chain by the arguments of iptables. */
  change(args: readonly string[]): Promise<void>;
}

/** Opens a table of this machine. Each call waits for other programs that change rules at the same time. */
export function openRules(program: "iptables" | "ip6tables", table: "filter" | "nat" | "raw"): RuleAccess {
  const run = async (args: readonly string[]) => await runCommand(program, ["--wait", "--table", table, ...args]);
  return {
    list: async () => await run(["--list-rules"]),
    change: async (args) => {
      await run(args);
    },
  };
}

/** Reads the rules; empty where there is no such program, because then nobody of this network made a rule either. */
export async function readRules(access: RuleAccess): Promise<string> {
  try {
    return await access.list();
  } catch (error) {
    if (codeOf(error) === "not-found") return "";
    throw error;
  }
}

/** The beginning of the comment of each rule that belongs to a network, as the CNI plugins write it. */
export function ruleComment(networkName: string): string {
  return `name: "${networkName}"`;
}

/** Finds the rules whose comment names the network, each as the words after `-A`. The chain is the first word. */
export function findOwnRules(rules: string, networkName: string): string[][] {
  return rules
    .split("\n")
    .filter((line) => line.startsWith("-A "))
    .map((line) => splitRule(line).slice(1))
    .filter((words) => words.some((word) => word.includes(ruleComment(networkName))));
}

/** Programs print the conditions of a rule in an order of their own. */
export function isSameRule(one: readonly string[], other: readonly string[]): boolean {
  return one.toSorted().join("\0") === other.toSorted().join("\0");
}

/** Splits a rule as `iptables -S` prints it, `-A` included: words, and strings in double quotes with backslash escapes. */
export function splitRule(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map((match) => {
    return match[2] ?? (match[1] ?? "").replaceAll(/\\(.)/g, "$1");
  });
}

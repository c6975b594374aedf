import { resolve } from "node:path";
import { type Command, InvalidArgumentError, type Option } from "commander";
import type { ExplainedKind } from "../../cluster/explain/explain-object-by-api.ts";
import { parseDuration } from "../../config/duration.ts";
import type { OutputFormat } from "../format-output.ts";
import { addNodePlace } from "../node-place.ts";
import { outputForPrograms } from "../output-option.ts";

/** The options as commander reads them. */
interface ExplainCommand {
  readonly output?: OutputFormat;
  readonly kubeconfig?: string;
  readonly stateDir: string;
  readonly namespace?: string;
  readonly since?: number;
  readonly node?: string;
}

/** What is asked for, with the options. */
export type AskedExplanation =
  | { readonly about: "pod"; readonly name: string; readonly options: ExplainCommand }
  | { readonly about: "node"; readonly name: string | undefined; readonly options: ExplainCommand }
  | { readonly about: ExplainedKind; readonly name: string; readonly options: ExplainCommand }
  | { readonly about: "pending"; readonly options: ExplainCommand };

const OBJECTS: ReadonlyArray<readonly [kind: ExplainedKind, about: string]> = [
  ["service", "why a service leads nowhere: its selector, its pods, its ports"],
  ["job", "why a job does not go on, or what ended it"],
  ["cronjob", "why a cron job starts nothing, or what became of what it started"],
];

/** Adds `nodelet explain`, which is `kubectl nodelet explain` too. */
export function addExplain(
  program: Command,
  stateDirectory: () => Option,
  run: (asked: AskedExplanation) => Promise<void>,
): void {
  const group = program
    .command("explain")
    .description(
      "tell why a pod, a service, a job or the node is as it is: what was decided, what it waits for, and what to do",
    );
  const places = new Map<Command, () => Promise<string>>();
  const add = (usage: string, about: string) => {
    const command = group
      .command(usage)
      .description(about)
      .addOption(outputForPrograms())
      .option("--kubeconfig <file>", "ask this cluster, not the node of nodelet up on this machine", absolutePath);
    places.set(command, addNodePlace(command, stateDirectory()));
    return command;
  };
  const optionsOf = async (command: Command): Promise<ExplainCommand> => {
    const options = command.opts<ExplainCommand>();
    const stateDir = options.kubeconfig === undefined ? await places.get(command)?.() : undefined;
    return { ...options, stateDir: stateDir ?? options.stateDir };
  };
  const namespace = "-n, --namespace <name>";
  const pod = add("pod <name>", "what happened to a pod, also to one that is gone")
    .option(namespace, "its namespace", "default")
    .option("--since <duration>", "only what happened in this last time, such as 90m", duration)
    .option("--node <name>", "with --kubeconfig, for a pod that is gone: the node that had it (default: ask all)");
  pod.action(async (name: string) => await run({ about: "pod", name, options: await optionsOf(pod) }));
  const node = add("node [name]", "what ails the node, and its pods that wait or have failed");
  node.action(async (name: string | undefined) => {
    const options = await optionsOf(node);
    if (options.kubeconfig !== undefined && name === undefined) node.error("error: with --kubeconfig, name the node");
    await run({ about: "node", name, options });
  });
  for (const [kind, about] of OBJECTS) {
    const object = add(`${kind} <name>`, about).option(namespace, "its namespace", "default");
    object.action(async (name: string) => await run({ about: kind, name, options: await optionsOf(object) }));
  }
  const pending = add("pending", "what each pod that does not run waits for").option(
    namespace,
    "pods of this namespace only (default: all)",
  );
  pending.action(async () => await run({ about: "pending", options: await optionsOf(pending) }));
}

const absolutePath = (path: string) => resolve(path);

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError("It must be a duration such as 90m, 1h30m or 30s.");
}

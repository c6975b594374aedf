import { useEffect, useState } from "preact/hooks";
import type { Event, Pod } from "../../api/gen/types.ts";
import { type CgroupNode, computeCgroupTree } from "../model/cgroup-tree.ts";
import { formatBytes, formatCores } from "../model/format-amount.ts";
import type { NodeUse } from "../model/node-use.ts";
import { addSample, computePressure } from "../model/pressure.ts";
import { Curve } from "./curve.tsx";
import { EventRows } from "./events.tsx";
import { Choice } from "./logs.tsx";
import { askFor } from "./session.ts";
import { useAsked, useTable } from "./state.ts";
import { Plain, ProblemBox, Section, Table } from "./words.tsx";

const PERIOD_MS = 10_000;
/** Samples of the time that the page is open, kept while other pages are shown. */
let samples: readonly NodeUse[] = [];

/** One node: what is left of its resources, what was evicted, and what each cgroup uses. */
export function NodePage() {
  const nodes = useTable("nodes");
  const names = [...nodes.objects.values()].map(({ metadata }) => metadata?.name ?? "");
  const [chosen, choose] = useState<string>();
  const node = chosen ?? names[0] ?? "";
  return (
    <>
      <h1 tabIndex={-1}>Node</h1>
      <div class="controls">
        <Choice label="Node" names={names} value={node} onChange={choose} />
      </div>
      {node !== "" && <UseOfNode key={node} node={node} />}
    </>
  );
}

function UseOfNode({ node }: { node: string }) {
  const pods = useTable("pods");
  const events = useTable("events");
  const { value, problem } = useAsked({
    subject: node,
    periodMs: PERIOD_MS,
    ask: async (signal) => await askFor<NodeUse>(`/usage?${new URLSearchParams({ node })}`, { signal }),
  });
  const [shown, show] = useState(() => samples.filter((sample) => sample.node === node));
  useEffect(() => {
    if (value === undefined) return;
    samples = addSample(samples, value);
    show([...samples]);
  }, [value]);
  const ended = [...events.objects.values()].filter(isAboutEviction);
  return (
    <>
      {problem !== undefined && (
        <ProblemBox text={problem} mend="The use of a node takes the right to get nodes/proxy." />
      )}
      {value?.gaps.map((gap) => (
        <p key={gap} class="faint">
          <Plain text={gap} />
        </p>
      ))}
      <Section title="Pressure" note="since this page was opened">
        <div class="curves">
          {computePressure(shown).map((curve) => (
            <Curve key={curve.signal} curve={curve} />
          ))}
        </div>
        <Evicted pods={[...pods.objects.values()]} events={ended} />
      </Section>
      {value !== undefined && <Cgroups pods={[...pods.objects.values()]} usage={value} />}
    </>
  );
}

function isAboutEviction({ reason }: Event): boolean {
  return (
    reason === "Evicted" || reason === "EvictionThresholdMet" || reason === "Preempting" || reason === "EvictionRank"
  );
}

function Evicted({ pods, events }: { pods: readonly Pod[]; events: readonly Event[] }) {
  const evicted = pods.filter(({ status }) => status?.reason === "Evicted").length;
  if (evicted === 0 && events.length === 0) return <p class="faint">No pod was evicted.</p>;
  return (
    <>
      <p>
        {evicted === 1
          ? "One pod that is still there was evicted."
          : `${evicted} pods that are still there were evicted.`}
      </p>
      {events.length > 0 && <EventRows events={events} most={20} caption="What was evicted, and why" />}
    </>
  );
}

/** The tree as a table whose first column is set in by depth. */
function Cgroups({ pods, usage }: { pods: readonly Pod[]; usage: NodeUse }) {
  const rows = computeCgroupTree(pods, usage).flatMap((node) => flatten(node, 1));
  return (
    <Section title="Cgroups">
      <Table
        caption="Cgroups with what they ask for, may use and use"
        head={["Cgroup", "CPU use", "CPU asked", "CPU limit", "Memory use", "Memory asked", "Memory limit"]}
      >
        {rows.map(({ node: { key, name, kind, cpu, memory }, depth }) => (
          <tr key={key} class={`cgroup ${kind}`}>
            <th scope="row" style={{ paddingLeft: `${depth * 0.9}rem` }}>
              <span class="hidden">level {depth}: </span>
              <Plain text={name} />
            </th>
            <td class="number">{amount(cpu.use, formatCores)}</td>
            <td class="number">{amount(cpu.request, formatCores)}</td>
            <td class="number">{amount(cpu.limit, formatCores)}</td>
            <td class="number use">
              {amount(memory.use, formatBytes)}
              <Share use={memory.use} of={memory.limit ?? memory.request} isLimit={memory.limit !== undefined} />
            </td>
            <td class="number">{amount(memory.request, formatBytes)}</td>
            <td class="number">{amount(memory.limit, formatBytes)}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function flatten(node: CgroupNode, depth: number): { node: CgroupNode; depth: number }[] {
  return [{ node, depth }, ...node.children.flatMap((child) => flatten(child, depth + 1))];
}

function amount(value: number | undefined, format: (value: number) => string) {
  return value === undefined || (value === 0 && format === formatCores) ? <span class="faint">–</span> : format(value);
}

/** How much of its limit, or else of its request, is used, as a bar; the numbers stand beside it. */
function Share({ use, of, isLimit }: { use: number | undefined; of: number | undefined; isLimit: boolean }) {
  if (use === undefined || !of) return null;
  const share = Math.min(1, use / of);
  const tone = isLimit && share > 0.9 ? "bad" : "calm";
  return (
    <span class="share" aria-hidden="true">
      <span class={tone} style={{ width: `${(share * 100).toFixed(1)}%` }} />
    </span>
  );
}

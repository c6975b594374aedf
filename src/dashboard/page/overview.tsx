import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Node, Pod } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import { computePodRow } from "../../cluster/status/pod-row.ts";
import { type DescribedPod, describePod } from "../model/pod-summary.ts";
import { EventRows } from "./events.tsx";
import { useTable } from "./state.ts";
import { Age, Plain, PodLink, Section, State, Table, TableState } from "./words.tsx";

/** The first page: the nodes, what needs somebody, and all pods. */
export function Overview() {
  const pods = useTable("pods");
  const events = useTable("events");
  const all = [...pods.objects.values()].map(summaryOf);
  const troubles = all.filter(({ trouble }) => trouble !== undefined);
  const warnings = [...events.objects.values()].filter(({ type }) => type === "Warning");
  return (
    <>
      <h1 tabIndex={-1}>Overview</h1>
      <div class="tiles">
        <Nodes />
        <Counts pods={all} />
      </div>
      <TableState table={pods} what="pods" />
      {troubles.length > 0 && (
        <Section title="Needs somebody" note={String(troubles.length)}>
          <ul class="reasons">{troubles.slice(0, MAX_TROUBLES).map(troubleItem)}</ul>
          {troubles.length > MAX_TROUBLES && (
            <p class="faint">and {troubles.length - MAX_TROUBLES} more: see the table</p>
          )}
        </Section>
      )}
      <PodTable pods={all} />
      <Section title="Last warnings" note={warnings.length === 0 ? "none" : String(warnings.length)}>
        {warnings.length > 0 && <EventRows events={warnings} most={8} caption="The newest warnings" />}
      </Section>
    </>
  );
}

const MAX_TROUBLES = 20;

function troubleItem({ pod, trouble, tone, status }: DescribedPod) {
  const { namespace, name, uid } = podReference(pod);
  return (
    <li key={uid}>
      <State tone={tone} word={status} /> <PodLink namespace={namespace} name={name} />
      <p>
        <Plain text={trouble?.message || trouble?.reason || ""} />
      </p>
      {trouble?.mend !== undefined && (
        <p class="mend">
          <Plain text={trouble.mend} />
        </p>
      )}
    </li>
  );
}

function Nodes() {
  const nodes = useTable("nodes");
  return (
    <Section title="Nodes">
      <TableState table={nodes} what="nodes" />
      <ul class="plain">{[...nodes.objects.values()].map(nodeItem)}</ul>
    </Section>
  );
}

function nodeItem(node: Node) {
  const { conditions = [], nodeInfo } = node.status ?? {};
  const bad = conditions.filter(({ type, status }) => (type === "Ready" ? status !== "True" : status !== "False"));
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return (
    <li key={node.metadata?.uid}>
      <State tone={bad.length === 0 && isReady ? "good" : "bad"} word={isReady ? "Ready" : "Not ready"} />{" "}
      <strong>
        <Plain text={node.metadata?.name ?? ""} />
      </strong>
      {node.spec?.unschedulable === true && <span class="tag">cordoned</span>}
      <p class="faint">
        <Plain text={`${nodeInfo?.kubeletVersion ?? ""}, ${nodeInfo?.containerRuntimeVersion ?? ""}`} />
      </p>
      {bad.map(({ type, message = "" }) => (
        <p key={type} class="bad-text">
          <Plain text={`${type}: ${message}`} />
        </p>
      ))}
    </li>
  );
}

function Counts({ pods }: { pods: readonly DescribedPod[] }) {
  const count = (wanted: DescribedPod["tone"]) => pods.filter(({ tone }) => tone === wanted).length;
  const rows = [
    { tone: "good", word: "run and are ready" },
    { tone: "wait", word: "are on their way" },
    { tone: "bad", word: "have failed or cannot go on" },
    { tone: "done", word: "are done" },
  ] as const;
  return (
    <Section title="Pods by state" note={String(pods.length)}>
      <dl class="counts">
        {rows.map(({ tone, word }) => (
          <div key={tone} class={tone}>
            <dt>{word}</dt>
            <dd>{count(tone)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function PodTable({ pods }: { pods: readonly DescribedPod[] }) {
  const [wanted, setWanted] = useState("");
  const shown = pods.filter(({ key, status }) => `${key} ${status}`.toLowerCase().includes(wanted.toLowerCase()));
  const rows = shown.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(rowOf);
  return (
    <Section title="Pods" note={wanted === "" ? String(pods.length) : `${shown.length} of ${pods.length}`}>
      <label class="filter">
        Only those with
        <input
          type="search"
          value={wanted}
          placeholder="name or status"
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      </label>
      <Table caption="All pods" head={["Pod", "Status", "Ready", "Restarts", "Age", "Node"]}>
        {rows}
      </Table>
    </Section>
  );
}

const summaries = new WeakMap<Pod, DescribedPod>();
const rows = new WeakMap<Pod, VNode>();

function summaryOf(pod: Pod): DescribedPod {
  const known = summaries.get(pod) ?? describePod(pod);
  summaries.set(pod, known);
  return known;
}

/** A pod that did not change keeps its row, which is then not even compared: there may be hundreds. */
function rowOf({ pod, tone, status }: DescribedPod): VNode {
  const known = rows.get(pod);
  if (known !== undefined) return known;
  const { namespace, name, uid } = podReference(pod);
  const { ready, restartCount } = computePodRow(pod, 0);
  const row = (
    <tr key={uid}>
      <th scope="row">
        <PodLink namespace={namespace} name={name} />
      </th>
      <td>
        <State tone={tone} word={status} />
      </td>
      <td class="number">{ready}</td>
      <td class="number">{restartCount}</td>
      <td class="number">
        <Age at={pod.metadata?.creationTimestamp} />
      </td>
      <td>
        <Plain text={pod.spec?.nodeName ?? "none"} />
      </td>
    </tr>
  );
  rows.set(pod, row);
  return row;
}

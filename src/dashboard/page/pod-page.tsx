import type { Pod } from "../../api/gen/types.ts";
import { podContainers } from "../../api/pods.ts";
import { parseTime } from "../../base/clock.ts";
import type { ExplainedCause, PodExplanation, Reason } from "../../explain/explanation.ts";
import { foldRepeats } from "../../explain/fold-repeats.ts";
import { describePod } from "../model/pod-summary.ts";
import { formatShortTime } from "../model/time-axis.ts";
import { EventRows } from "./events.tsx";
import { LifeAxis } from "./life-axis.tsx";
import { Logs } from "./logs.tsx";
import { askFor } from "./session.ts";
import { useAsked, useNow, useTable } from "./state.ts";
import { TerminalPanel } from "./terminal-panel.tsx";
import { StartWaterfall } from "./waterfall.tsx";
import { Age, Plain, ProblemBox, Section, State, Table, type Tone } from "./words.tsx";

/** How often the decisions about a pod are asked for; a change of the pod asks at once. */
const PERIOD_MS = 5_000;

/** All about one pod, also when it is gone. */
export function PodPage({ namespace, name }: { namespace: string; name: string }) {
  const pods = useTable("pods");
  const events = useTable("events");
  const now = useNow();
  const pod = [...pods.objects.values()].find(({ metadata }) => {
    return metadata?.name === name && metadata.namespace === namespace;
  });
  const query = new URLSearchParams({ namespace, name });
  const { value: last, problem } = useAsked({
    subject: `${query}`,
    version: pod?.metadata?.resourceVersion,
    periodMs: PERIOD_MS,
    ask: async (signal) => await askFor<PodExplanation>(`/explain?${query}`, { signal }),
  });
  const own = [...events.objects.values()].filter(({ involvedObject: about }) => {
    return about.kind === "Pod" && about.name === name && about.namespace === namespace;
  });
  return (
    <>
      <h1 tabIndex={-1}>
        <span class="faint">
          <Plain text={namespace} />/
        </span>
        <Plain text={name} />
      </h1>
      <PodHead pod={pod} explanation={last} />
      {problem !== undefined && <ProblemBox text={problem} />}
      {last !== undefined && <Reasons explanation={last} />}
      {last !== undefined && pod !== undefined && (
        <Section title="Start">
          <StartWaterfall pod={pod} explanation={last} now={now} />
        </Section>
      )}
      {last !== undefined && (
        <Section title="Life">
          <LifeAxis explanation={last} now={now} />
          <Decisions explanation={last} />
        </Section>
      )}
      {pod !== undefined && <Containers pod={pod} />}
      {pod !== undefined && <Logs key={`${query}`} pod={pod} />}
      {pod !== undefined && <TerminalPanel key={`${query} terminal`} pod={pod} />}
      <Section title="Events" note={own.length === 0 ? "none in the last hour" : String(own.length)}>
        {own.length > 0 && <EventRows events={own} most={100} caption="Events of this pod" tellsSubject={false} />}
      </Section>
    </>
  );
}

function PodHead({ pod, explanation }: { pod: Pod | undefined; explanation: PodExplanation | undefined }) {
  if (pod === undefined) {
    const words = explanation === undefined ? "Asking for it …" : "This pod is gone; what follows was recorded.";
    return <p class="faint">{words}</p>;
  }
  const { status, tone } = describePod(pod);
  const facts = [
    ["Node", pod.spec?.nodeName ?? "none yet"],
    ["Address", pod.status?.podIP ?? "none yet"],
    ["Class", pod.status?.qosClass ?? "unknown"],
    ["Service account", pod.spec?.serviceAccountName ?? "default"],
  ] as const;
  return (
    <dl class="facts">
      <div>
        <dt>State</dt>
        <dd>
          <State tone={tone} word={status} />
        </dd>
      </div>
      <div>
        <dt>Age</dt>
        <dd>
          <Age at={pod.metadata?.creationTimestamp} />
        </dd>
      </div>
      {facts.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>
            <Plain text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What it waits for and what ended it, in the words of `nodelet explain`. */
function Reasons({ explanation: { waits, ends, gaps, state } }: { explanation: PodExplanation }) {
  if (waits.length + ends.length + gaps.length === 0) return null;
  return (
    <Section title="Why">
      <ul class="reasons">
        {waits.map((reason) => reasonItem("waits", "wait", reason))}
        {ends.map((reason) => reasonItem("ended", state === "Succeeded" ? "done" : "bad", reason))}
      </ul>
      {gaps.map((gap) => (
        <p key={gap} class="faint">
          Not known: <Plain text={gap} />
        </p>
      ))}
    </Section>
  );
}

function reasonItem(what: string, tone: Tone, { reason, message, container, at, mend, causes = [] }: Reason) {
  return (
    <li key={`${what} ${container} ${reason} ${at}`}>
      <State tone={tone} word={container === undefined ? what : `${container} ${what}`} />{" "}
      <strong>
        <Plain text={reason} />
      </strong>
      {at !== undefined && (
        <span class="faint">
          {what === "waits" ? " for " : " "}
          <Age at={at} />
          {what === "waits" ? "" : " ago"}
        </span>
      )}
      {message !== "" && (
        <p>
          <Plain text={message} />
        </p>
      )}
      {causes.length > 0 && <Causes causes={causes} />}
      {mend !== undefined && (
        <p class="mend">
          <Plain text={mend} />
        </p>
      )}
    </li>
  );
}

/** What led to it, the nearest first. */
function Causes({ causes }: { causes: readonly ExplainedCause[] }) {
  return (
    <ol class="causes" aria-label="Causes, the nearest first">
      {causes.map(({ reason, message, at }) => (
        <li key={`${reason} ${at}`}>
          because{" "}
          <strong>
            <Plain text={reason} />
          </strong>{" "}
          <Age at={at} /> ago: <Plain text={message} />
        </li>
      ))}
    </ol>
  );
}

/** All that was decided, oldest first; what came again and again is told once. */
function Decisions({ explanation: { steps, pod } }: { explanation: PodExplanation }) {
  const begin = parseTime(steps[0]?.firstAt) ?? 0;
  return (
    <details>
      <summary>All {steps.length} decisions</summary>
      <Table caption="Decisions about this pod, oldest first" head={["After", "What", "Container", "Words"]}>
        {foldRepeats(steps).map((told, index) => {
          const step = told.kind === "step" ? told.step : told.last;
          const { at, reason, message, type, container = "", count, uid } = step;
          const took = step.tookMs === undefined ? "" : ` (took ${formatShortTime(step.tookMs)})`;
          const words =
            told.kind === "step" ? `${message}${took}` : `${told.length} steps came ${told.times} times more`;
          return (
            <tr key={index} class={uid === pod.uid ? undefined : "faint"}>
              <td class="number" title={at}>
                {formatShortTime(Math.max(0, (parseTime(at) ?? begin) - begin))}
              </td>
              <td>
                <State tone={type === "Warning" ? "bad" : "done"} word={count > 1 ? `${reason} ×${count}` : reason} />
              </td>
              <td>
                <Plain text={container} />
              </td>
              <td class="message">
                <Plain text={words} />
              </td>
            </tr>
          );
        })}
      </Table>
    </details>
  );
}

function Containers({ pod }: { pod: Pod }) {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  const statuses = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return (
    <Section title="Containers">
      <Table caption="Containers of this pod" head={["Container", "State", "Restarts", "Last end", "Image"]}>
        {podContainers(pod).map(({ container, kind }) => {
          const status = statuses.find(({ name }) => name === container.name);
          const last = status?.lastState?.terminated ?? status?.state?.terminated;
          const { tone, word } = describeContainer(status?.state ?? {}, status?.ready === true);
          return (
            <tr key={container.name}>
              <th scope="row">
                <Plain text={container.name} />
                {kind !== "main" && <span class="tag">{kind}</span>}
              </th>
              <td>
                <State tone={tone} word={word} />
              </td>
              <td class="number">{status?.restartCount ?? 0}</td>
              <td>
                {last === undefined ? (
                  <span class="faint">never</span>
                ) : (
                  <>
                    <Plain text={`${last.reason ?? "ended"}, code ${last.exitCode}, `} />
                    <Age at={last.finishedAt} /> ago
                  </>
                )}
              </td>
              <td class="message">
                <Plain text={container.image ?? ""} />
              </td>
            </tr>
          );
        })}
      </Table>
    </Section>
  );
}

type States = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]["state"];

function describeContainer(state: NonNullable<States>, isReady: boolean): { tone: Tone; word: string } {
  const { running, terminated, waiting } = state;
  if (running !== undefined)
    return isReady ? { tone: "good", word: "ready" } : { tone: "wait", word: "runs, not ready" };
  if (terminated?.exitCode === 0) return { tone: "done", word: "done" };
  if (terminated !== undefined) return { tone: "bad", word: terminated.reason ?? "ended" };
  const word = waiting?.reason ?? "waits";
  return { tone: /^(ContainerCreating|PodInitializing|waits)$/.test(word) ? "wait" : "bad", word };
}

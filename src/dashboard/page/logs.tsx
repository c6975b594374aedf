import { useEffect, useRef, useState } from "preact/hooks";
import type { Pod } from "../../api/gen/types.ts";
import { podContainers, podReference } from "../../api/pods.ts";
import { toPlainText } from "../../base/plain-text.ts";
import { createLogLines } from "../model/log-lines.ts";
import { ask, QuestionError } from "./session.ts";
import { Plain, ProblemBox, Section } from "./words.tsx";

/** What a container wrote, and what it writes. It is read when somebody asks for it. */
export function Logs({ pod }: { pod: Pod }) {
  const names = podContainers(pod).map(({ container }) => container.name);
  const [container, setContainer] = useState(names[0] ?? "");
  const [isPrevious, setPrevious] = useState(false);
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title="Log">
      <div class="controls">
        <Choice label="Container" names={names} value={container} onChange={setContainer} />
        <label>
          <input type="checkbox" checked={isPrevious} onInput={(event) => setPrevious(event.currentTarget.checked)} />{" "}
          Of the run before
        </label>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Close" : "Follow"}
        </button>
      </div>
      {isOpen && <LogText key={`${container} ${isPrevious}`} {...{ pod, container, isPrevious }} />}
    </Section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly value: string;
  onChange(name: string): void;
}

/** Chooses one of several names; only words where there is one. */
export function Choice({ label, names, value, onChange }: ChoiceProps) {
  if (names.length < 2) {
    return (
      <span>
        {label} <Plain text={value} />
      </span>
    );
  }
  return (
    <label>
      {label}{" "}
      <select value={value} onInput={(event) => onChange(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {toPlainText(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** How often what came is shown, however fast it comes. */
const SHOW_MS = 100;
const AGAIN_MS = 2_000;
/** Who has scrolled up this far reads, and is not moved to the end. */
const AT_END_PIXELS = 24;

function LogText({ pod, container, isPrevious }: { pod: Pod; container: string; isPrevious: boolean }) {
  const [text, setText] = useState("");
  const [state, setState] = useState<{ problem?: string; isOver?: boolean }>({});
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  const { namespace, name } = podReference(pod);
  useEffect(() => {
    const controller = new AbortController();
    const query = `/logs?${new URLSearchParams({ namespace, name, container, previous: String(isPrevious) })}`;
    let lines = createLogLines();
    const timer = setInterval(() => setText(lines.text()), SHOW_MS);
    const follow = async () => {
      const answer = await ask(query, { signal: controller.signal });
      // It begins with the end of the log again, so that what broke off is told once.
      lines = createLogLines();
      setState({});
      await readText(answer, lines.add);
      setState({ isOver: true });
    };
    const onFailure = (error: unknown) => {
      if (controller.signal.aborted) return;
      const isRefused = error instanceof QuestionError && error.status >= 400 && error.status < 500;
      const message = error instanceof QuestionError ? error.message : "The log broke off.";
      setState({ problem: isRefused ? message : `${message} It is tried again.` });
      if (!isRefused) again = setTimeout(start, AGAIN_MS);
    };
    let again: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      follow().catch(onFailure);
    };
    start();
    return () => {
      clearInterval(timer);
      clearTimeout(again);
      controller.abort();
    };
  }, [namespace, name, container, isPrevious]);
  useEffect(() => {
    const element = box.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  const onScroll = () => {
    const element = box.current;
    if (element === null) return;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PIXELS;
  };
  return (
    <>
      {state.problem !== undefined && <ProblemBox text={state.problem} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by the arrow keys. */}
      <pre ref={box} class="log" onScroll={onScroll} tabIndex={0} role="log" aria-label={`Log of ${container}`}>
        {text}
      </pre>
      {state.isOver === true && <p class="faint">The log has ended.</p>}
    </>
  );
}

async function readText(answer: Response, add: (text: string) => void): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    add(piece.value);
  }
}

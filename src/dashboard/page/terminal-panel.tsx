import { useEffect, useRef, useState } from "preact/hooks";
import type { Pod } from "../../api/gen/types.ts";
import { podContainers, podReference } from "../../api/pods.ts";
import { Choice } from "./logs.tsx";
import { askFor } from "./session.ts";
import { Plain, ProblemBox, Section } from "./words.tsx";

/** A terminal in a container, after a question: what is typed there is done there. */
export function TerminalPanel({ pod }: { pod: Pod }) {
  const { namespace, name } = podReference(pod);
  const names = podContainers(pod)
    .filter(({ container }) => isRunning(pod, container.name))
    .map(({ container }) => container.name);
  const [chosen, setContainer] = useState<string>();
  const [command, setCommand] = useState("sh");
  const [opened, setOpened] = useState<{ container: string; command: readonly string[] }>();
  const dialog = useRef<HTMLDialogElement>(null);
  const container = chosen ?? names[0];
  const words = command.split(/\s+/).filter((word) => word !== "");
  if (opened !== undefined) {
    return (
      <Section title="Terminal" note={opened.container}>
        <TerminalView {...opened} {...{ namespace, name }} onClose={() => setOpened(undefined)} />
      </Section>
    );
  }
  if (container === undefined) return null;
  const confirm = () => {
    dialog.current?.close();
    setOpened({ container, command: words });
  };
  return (
    <Section title="Terminal">
      <div class="controls">
        <Choice label="Container" names={names} value={container} onChange={setContainer} />
        <label>
          Command <input value={command} onInput={(event) => setCommand(event.currentTarget.value)} />
        </label>
        <button type="button" disabled={words.length === 0} onClick={() => dialog.current?.showModal()}>
          Open …
        </button>
      </div>
      <dialog ref={dialog} aria-labelledby="confirm-terminal">
        <h2 id="confirm-terminal">Open a terminal?</h2>
        <p>
          <code>
            <Plain text={words.join(" ")} />
          </code>{" "}
          is started in the container{" "}
          <strong>
            <Plain text={container} />
          </strong>{" "}
          of{" "}
          <strong>
            <Plain text={`${namespace}/${name}`} />
          </strong>
          , with your rights. What you type there is done there.
        </p>
        <div class="controls">
          <button type="button" class="main" onClick={confirm}>
            Open the terminal
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </dialog>
    </Section>
  );
}

function isRunning({ status }: Pod, name: string): boolean {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return all.some((one) => one.name === name && one.state?.running !== undefined);
}

interface TerminalViewProps {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly command: readonly string[];
  onClose(): void;
}

function TerminalView({ namespace, name, container, command, onClose }: TerminalViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const [end, setEnd] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const open = async () => {
      const body = JSON.stringify({ namespace, name, container, command });
      const { name: permit } = await askFor<{ name: string }>("/exec", { method: "POST", body });
      const { runTerminal } = await import("./run-terminal.ts");
      if (place.current !== null) setEnd(await runTerminal(place.current, `/exec/${permit}`, controller.signal));
    };
    open().catch((error: unknown) => setEnd(error instanceof Error ? error.message : String(error)));
    return () => controller.abort();
  }, []);
  return (
    <>
      <div ref={place} class="terminal" />
      {end !== undefined && <ProblemBox text={end} />}
      <div class="controls">
        <button type="button" onClick={onClose}>
          Close the terminal
        </button>
        <span class="faint">Ctrl+Shift+Escape leaves it by the keyboard.</span>
      </div>
    </>
  );
}

import type { ComponentChildren } from "preact";
import { parseTime } from "../../base/clock.ts";
import { formatHumanDuration } from "../../base/human-duration.ts";
import { toPlainText } from "../../base/plain-text.ts";
import { describeTrouble } from "../model/describe-trouble.ts";
import type { FollowedKind } from "../model/object-table.ts";
import { podLink } from "./route.ts";
import { useNow } from "./state.ts";

/** Good, in between, bad, over: said in words too, because not everybody sees colours. */
export type Tone = "good" | "wait" | "bad" | "done";

/** Text that strangers wrote: characters that are not seen, or that turn the direction of writing, are shown as escapes. */
export function Plain({ text }: { text: string }) {
  return <>{toPlainText(text)}</>;
}

/** How long ago, in kubectl's words; the exact time stands in the title. */
export function Age({ at }: { at: string | undefined }) {
  const now = useNow();
  const time = parseTime(at);
  if (time === undefined) return <span class="faint">unknown</span>;
  return (
    <time dateTime={at} title={new Date(time).toLocaleString()}>
      {formatHumanDuration(Math.max(0, now - time))}
    </time>
  );
}

/** A word with a dot of its tone. */
export function State({ tone, word }: { tone: Tone; word: string }) {
  return (
    <span class={`state ${tone}`}>
      <Plain text={word} />
    </span>
  );
}

/** A pod's name that leads to its page. */
export function PodLink({ namespace, name }: { namespace: string; name: string }) {
  return (
    <a class="name" href={podLink(namespace, name)}>
      <span class="faint">
        <Plain text={namespace} />/
      </span>
      <Plain text={name} />
    </a>
  );
}

/** A part of the page with its heading. */
export function Section({ title, note, children }: { title: string; note?: string; children: ComponentChildren }) {
  const id = title.toLowerCase().replace(/\W+/g, "-");
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title}
        {note !== undefined && <span class="note"> {note}</span>}
      </h2>
      {children}
    </section>
  );
}

/** A problem, as a box that is read out when it appears. */
export function ProblemBox({ text, mend }: { text: string; mend?: string }) {
  return (
    <div class="problem" role="alert">
      <p>
        <Plain text={text} />
      </p>
      {mend !== undefined && <p class="faint">{mend}</p>}
    </div>
  );
}

/** What stands in place of a table that is not there yet, or that the user may not see. */
export function TableState({ table, what }: { table: FollowedKind<unknown>; what: string }) {
  if (table.trouble !== undefined) {
    return <ProblemBox {...describeTrouble(table.trouble, what)} />;
  }
  return table.hasSynced ? null : <p class="faint">Reading {what} …</p>;
}

/** A table that scrolls by itself where the window is narrow; it can be scrolled by the keyboard then. */
export function Table({
  caption,
  head,
  children,
}: {
  caption: string;
  head: readonly string[];
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by the arrow keys.
    <section class="scrolls" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((cell) => (
              <th key={cell} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

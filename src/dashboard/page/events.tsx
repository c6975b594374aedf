import { useState } from "preact/hooks";
import type { Event } from "../../api/gen/types.ts";
import { parseTime } from "../../base/clock.ts";
import { MAX_EVENTS } from "../model/live-message.ts";
import { useTable } from "./state.ts";
import { Age, Plain, PodLink, State, Table, TableState } from "./words.tsx";

/** All events as they come, the newest first. */
export function EventsPage() {
  const events = useTable("events");
  const [onlyWarnings, setOnlyWarnings] = useState(false);
  const shown = [...events.objects.values()].filter(({ type }) => !onlyWarnings || type === "Warning");
  return (
    <>
      <h1 tabIndex={-1}>Events</h1>
      <TableState table={events} what="events" />
      <label class="filter">
        <input
          type="checkbox"
          checked={onlyWarnings}
          onInput={(event) => setOnlyWarnings(event.currentTarget.checked)}
        />
        Only warnings
      </label>
      <EventRows events={shown} most={MAX_EVENTS} caption={`The newest events (${shown.length})`} />
    </>
  );
}

interface EventRowsProps {
  readonly events: readonly Event[];
  readonly most: number;
  readonly caption: string;
  /** False where they are all about one object. Default true. */
  readonly tellsSubject?: boolean;
}

/** A table of events, the newest first. */
export function EventRows({ events, most, caption, tellsSubject = true }: EventRowsProps) {
  const newest = events.toSorted((a, b) => lastTime(b) - lastTime(a)).slice(0, most);
  return (
    <Table caption={caption} head={["Ago", "What", ...(tellsSubject ? ["About"] : []), "Message"]}>
      {newest.map((event) => {
        const { involvedObject: about, reason = "", message = "", type, metadata } = event;
        const count = event.series?.count ?? event.count ?? 1;
        return (
          <tr key={metadata.uid}>
            <td class="number">
              <Age at={new Date(lastTime(event)).toISOString()} />
            </td>
            <td>
              <State tone={type === "Warning" ? "bad" : "done"} word={count > 1 ? `${reason} ×${count}` : reason} />
            </td>
            {tellsSubject && (
              <td>
                {about.kind === "Pod" ? (
                  <PodLink namespace={about.namespace ?? ""} name={about.name ?? ""} />
                ) : (
                  <Plain text={`${about.kind} ${about.name}`} />
                )}
              </td>
            )}
            <td class="message">
              <Plain text={message} />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

function lastTime({ lastTimestamp, series, eventTime, metadata }: Event): number {
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, metadata.creationTimestamp];
  return times.map(parseTime).find((time) => time !== undefined) ?? 0;
}

import type { Metrics } from "../../base/metrics.ts";
import type { FlowRefusal } from "./flow-request.ts";
import type { SeatLimits } from "./seats.ts";

/** What was counted of the requests of a level and a schema. */
export interface FlowTally {
  readonly level: string;
  readonly schema: string;
  waiting: number;
  waitingSeats: number;
  serving: number;
  servingSeats: number;
  dispatched: number;
  readonly refused: Record<FlowRefusal, number>;
}

/** The series that dashboards of kube-apiserver read. */
interface FlowSeries {
  waited(flow: FlowName, wait: { seconds: number; isServed: boolean }): void;
  served(flow: FlowName, service: { seconds: number; isWatch: boolean }): void;
  /** Sets what is set when somebody reads. */
  tell(tallies: Iterable<FlowTally>, limits: ReadonlyMap<string, SeatLimits>): void;
}

type FlowName = Pick<FlowTally, "level" | "schema">;

const BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const PREFIX = "apiserver_flowcontrol_";
const LEVEL = ["priority_level"] as const;
const FLOW = ["priority_level", "flow_schema"] as const;
const labelsOf = ({ level, schema }: FlowName) => ({ priority_level: level, flow_schema: schema });

/** Declares them on the registry, which must not have them yet. */
export function declareFlowSeries(metrics: Metrics): FlowSeries {
  const waits = metrics.histogram(
    `${PREFIX}request_wait_duration_seconds`,
    "How long requests waited in their lines.",
    {
      labels: [...FLOW, "execute"],
      buckets: BUCKETS,
    },
  );
  const services = metrics.histogram(`${PREFIX}request_execution_seconds`, "How long requests were served.", {
    labels: [...FLOW, "type"],
    buckets: BUCKETS,
  });
  const tellTallies = declareTallies(metrics);
  const tellLimits = declareLimits(metrics);
  return {
    waited: (flow, { seconds, isServed }) => waits.observe(seconds, { ...labelsOf(flow), execute: `${isServed}` }),
    served: (flow, { seconds, isWatch }) =>
      services.observe(seconds, { ...labelsOf(flow), type: isWatch ? "watch" : "regular" }),
    tell(tallies, limits) {
      for (const tally of tallies) tellTallies(tally);
      tellLimits(limits);
    },
  };
}

function declareTallies(metrics: Metrics): (tally: FlowTally) => void {
  const gauge = (name: string, help: string) => metrics.gauge(`${PREFIX}${name}`, help, FLOW);
  const series = {
    waiting: gauge("current_inqueue_requests", "Requests that wait."),
    waitingSeats: gauge("current_inqueue_seats", "The seats that requests wait for."),
    serving: gauge("current_executing_requests", "Requests that are served."),
    servingSeats: gauge("current_executing_seats", "The seats that requests have."),
  };
  const dispatched = metrics.counter(`${PREFIX}dispatched_requests_total`, "Requests that were served.", FLOW);
  const rejected = metrics.counter(`${PREFIX}rejected_requests_total`, "Requests that were not served, by reason.", [
    ...FLOW,
    "reason",
  ]);
  const tellCount = createCountTeller();
  return (tally) => {
    const labels = labelsOf(tally);
    series.waiting.set(tally.waiting, labels);
    series.waitingSeats.set(tally.waitingSeats, labels);
    series.serving.set(tally.serving, labels);
    series.servingSeats.set(tally.servingSeats, labels);
    const key = `${tally.level} ${tally.schema}`;
    dispatched.add(labels, tellCount(key, tally.dispatched));
    for (const [reason, count] of Object.entries(tally.refused)) {
      if (count > 0) rejected.add({ ...labels, reason }, tellCount(`${key} ${reason}`, count));
    }
  };
}

/** Returns what was added to a count since it was last asked: counting costs less than telling a series each time. */
function createCountTeller(): (key: string, count: number) => number {
  const told = new Map<string, number>();
  return (key, count) => {
    const added = count - (told.get(key) ?? 0);
    told.set(key, count);
    return added;
  };
}

function declareLimits(metrics: Metrics): (limits: ReadonlyMap<string, SeatLimits>) => void {
  const gauge = (name: string, help: string) => metrics.gauge(`${PREFIX}${name}_limit_seats`, help, LEVEL);
  const series = {
    nominal: gauge("nominal", "The seats that the level has by its shares."),
    lower: gauge("lower", "The seats that the level is sure of."),
    upper: gauge("upper", "The seats that the level has at most."),
    current: gauge("current", "The seats that the level has by its shares; what it borrows changes with each request."),
  };
  return (limits) => {
    for (const gaugeOfLevels of Object.values(series)) gaugeOfLevels.reset();
    for (const [priority_level, { nominal, lower, upper }] of limits) {
      series.nominal.set(nominal, { priority_level });
      series.lower.set(lower, { priority_level });
      series.upper.set(upper, { priority_level });
      series.current.set(nominal, { priority_level });
    }
  };
}

import { expect, it } from "vitest";
import { renderMetrics } from "./metric-page.ts";

it("is written as Prometheus reads it", () => {
  const page = renderMetrics([
    { name: "none", help: "No samples.", type: "gauge", samples: [] },
    {
      name: "bytes",
      help: "With a \\ and\na line.",
      type: "gauge",
      samples: [
        { value: 1.5, at: 1_767_225_600_123.4 },
        { value: 2, labels: { pod: 'a"b\\c\nd', namespace: "" } },
      ],
    },
    {
      name: "seconds_total",
      help: "Odd ones.",
      type: "counter",
      samples: [Number.POSITIVE_INFINITY, Number.NaN, 1e21].map((value) => ({ value })),
    },
  ]);
  expect(page).toBe(`# HELP bytes With a \\\\ and\\na line.
# TYPE bytes gauge
bytes 1.5 1767225600123
bytes{pod="a\\"b\\\\c\\nd",namespace=""} 2
# HELP seconds_total Odd ones.
# TYPE seconds_total counter
seconds_total +Inf
seconds_total NaN
seconds_total 1e+21
`);
  expect(renderMetrics([])).toBe("");
});

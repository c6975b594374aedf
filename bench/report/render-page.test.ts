import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Measure, timed } from "../measure.ts";
import { NEWEST_RUN, PAGE, TEMPLATE } from "./places.ts";
import { renderPage } from "./render-page.ts";
import { parseRunFile, type Run } from "./run-file.ts";

const run = (...measures: Measure[]): Run => ({
  circumstances: {
    date: "2026-01-02",
    runtimes: ["containerd 1.6.20"],
    node: "20.20.0",
    processor: "Some CPU",
    cpus: 2,
    kernel: "6.12.0",
    load: { start: 0.1, median: 1.5 },
    minutes: 19.6,
  },
  measures,
});
const render = (template: string, ...measures: Measure[]) => renderPage(template, run(...measures)).page;

describe("renderPage", () => {
  it("tells what a run was taken on", () => {
    expect(render("On {{circumstances}}")).toBe(
      "On 2026-01-02, 20 minutes: containerd 1.6.20, Node.js 20.20.0, Linux 6.12.0, 2 CPUs (Some CPU), load 0.1 at the start, 1.5 at the median.",
    );
  });

  it("says that a run had few samples", () => {
    const quick = run();
    const page = renderPage("{{circumstances}}", {
      ...quick,
      circumstances: { ...quick.circumstances, isQuick: true },
    }).page;
    expect(page).toMatch(/^\*\*Few samples/);
  });

  it("says of each target whether it was reached, and of what was not there that it was not compared", () => {
    const kubelet: Measure = {
      ...timed({ case: "cluster-burst", name: "each", target: { of: "kubelet", median: 0.5 } }, [4]),
      beside: [{ name: "Go kubelet", summary: { samples: 1, median: 10, p99: 10 } }],
    };
    const start = timed({ case: "single", name: "start", target: { of: "ratio", median: 1.15 } }, [12], [10]);
    const { beside: _, ...alone } = kubelet;
    const page = render(
      "{{targets}}",
      start,
      kubelet,
      { ...alone, name: "alone" },
      timed({ case: "exit", name: "end" }, [1]),
    );
    expect(page).toMatch(/\| single: start \(ms\) +\| 1 +\| 12\.0 .* 1\.20 .*\| ratio median 1\.15 +\| \*\*no\*\*/);
    expect(page).toMatch(/each \(ms\).*\| 0\.40 +\| of the Go kubelet median 0\.5 \| yes/);
    expect(page).toMatch(/alone \(ms\).*\| not compared/);
    expect(page).not.toContain("end");
  });

  it("has what Go programs did in place of parts of ours beside a target", () => {
    const change: Measure = {
      ...timed({ case: "up-endpoints", name: "change", target: { of: "value", median: 30 } }, [12]),
      beside: [{ name: "Go kube-proxy", summary: { samples: 1, median: 24, p99: 24 } }],
    };
    const together = { ...change, case: "up-idle", name: "CPU" } as const;
    const three = [{ name: "Go kube-proxy, CoreDNS", summary: { samples: 1, median: 48, p99: 48 } }];
    const page = render("{{targets}}", change, { ...together, beside: three });
    expect(page).toMatch(/change \(ms\).*\| 24\.0 +\| 0\.50 +\| median 30/);
    expect(page).toMatch(/CPU \(ms\).*\| 48\.0 +\| 0\.25 +\| median 30/);
  });

  it("has the figures of the cases that it names, and says where there are none", () => {
    const page = render(
      "{{figures single api-*}}\n{{figures exit}}",
      timed({ case: "single", name: "a" }, [1]),
      timed({ case: "api-list", name: "b" }, [2]),
      timed({ case: "burst", name: "c" }, [3]),
    );
    expect(page).toContain("single: a (ms)");
    expect(page).toContain("api-list: b (ms)");
    expect(page).not.toContain("burst");
    expect(page).toContain("This run did not measure it.");
  });

  it("counts calls by name", () => {
    const calls = (of: "cluster-single" | "cluster-delete", name: string, count: number): Measure => {
      return { ...timed({ case: of, name: `runtime calls, ${name}` }, [count]), unit: "calls" };
    };
    const page = render(
      "{{calls cluster-single cluster-delete}}",
      calls("cluster-single", "run_podsandbox", 1),
      calls("cluster-delete", "run_podsandbox", 0),
      calls("cluster-delete", "stop_container", 2),
    );
    expect(page).toMatch(/\| run_podsandbox +\| 1 +\| +\|/);
    expect(page).toMatch(/\| stop_container +\| +\| 2 +\|/);
  });

  it("draws curves into a file that the page shows", () => {
    const at = (value: number) => ({ ...timed({ case: "single", name: "a" }, [value * 2]), at: { of: "pods", value } });
    const { page, pictures } = renderPage("{{growth growth.svg single}}", run(at(1), at(10), at(100)));
    expect(page).toContain("](growth.svg)");
    expect(page).toMatch(/\| single: a \(ms\) \| pods \| 2\.0 at 1 \| 200 at 100 \| 1\.00 +\|/);
    expect([...pictures.keys()]).toEqual(["growth.svg"]);
    expect(pictures.get("growth.svg")).toContain("<svg");
  });

  it("refuses a block that does not exist", () => {
    expect(() => render("{{figurs single}}")).toThrow("figurs");
  });
});

describe("docs/performance.md", () => {
  it("is what the template and the newest run say, and so are its pictures", () => {
    const { page, pictures } = renderPage(
      readFileSync(TEMPLATE, "utf8"),
      parseRunFile(readFileSync(NEWEST_RUN, "utf8")),
    );
    expect(readFileSync(PAGE, "utf8")).toBe(page);
    for (const [file, svg] of pictures) expect(readFileSync(new URL(file, PAGE), "utf8")).toBe(svg);
  });
});

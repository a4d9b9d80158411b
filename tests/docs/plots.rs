//! The figures on the page about scoring, drawn from the functions that the program calls.

use std::fmt::Write;

use aizo::model::{Band, Score};
use aizo::scoring::{Decay, smooth, weight};
use regex_lite::Regex;

use super::is_up_to_date;
use crate::common::pages::{numbers, table, text_of};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 36.0;

/// Colours that can be told apart in the light, in the dark, and by most who see few.
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a7a00", "#56b4e9",
];

struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// A drawing of curves over an axis from 0 to `across`, with marks at the numbers named.
struct Plot {
    title: &'static str,
    across: (f64, &'static str, &'static [f64]),
    up: (f64, &'static [f64]),
    curves: Vec<Curve>,
    has_dots: bool,
}

fn score(value: f64) -> Score {
    Score::new(value).expect("it is a score")
}

impl Plot {
    fn x(&self, value: f64) -> f64 {
        LEFT + value / self.across.0 * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.up.0 * (HEIGHT - TOP - BOTTOM)
    }

    /// The names of the curves where these end, none over another.
    fn labels(&self) -> Vec<(&str, &str, f64)> {
        const LINE: f64 = 14.0;
        let mut labels: Vec<(&str, &str, f64)> = self
            .curves
            .iter()
            .zip(COLOURS)
            .map(|(curve, colour)| {
                let &(_, last) = curve.points.last().expect("a curve has points");
                (curve.name.as_str(), colour, self.y(last) + 4.0)
            })
            .collect();
        labels.sort_by(|a, b| b.2.total_cmp(&a.2));
        for index in 1..labels.len() {
            labels[index].2 = labels[index].2.min(labels[index - 1].2 - LINE);
        }
        labels
    }

    fn svg(&self) -> String {
        let mut svg = head(self.title, HEIGHT);
        for &mark in self.up.1 {
            let y = self.y(mark);
            line(&mut svg, "grid", (LEFT, y), (WIDTH - RIGHT, y));
            text(&mut svg, (LEFT - 8.0, y + 4.0), "end", &mark.to_string());
        }
        for &mark in self.across.2 {
            let x = self.x(mark);
            line(&mut svg, "grid", (x, TOP), (x, HEIGHT - BOTTOM));
            text(
                &mut svg,
                (x, HEIGHT - BOTTOM + 16.0),
                "middle",
                &mark.to_string(),
            );
        }
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        text(&mut svg, (middle, HEIGHT - 4.0), "middle", self.across.1);
        for (curve, colour) in self.curves.iter().zip(COLOURS) {
            let points: Vec<String> = curve
                .points
                .iter()
                .map(|&(x, y)| format!("{:.1},{:.1}", self.x(x), self.y(y)))
                .collect();
            writeln!(
                svg,
                r#"<polyline fill="none" stroke="{colour}" stroke-width="2" points="{}"/>"#,
                points.join(" ")
            )
            .expect("a text takes all");
            for &(x, y) in curve.points.iter().filter(|_| self.has_dots) {
                writeln!(
                    svg,
                    r#"<circle fill="{colour}" cx="{:.1}" cy="{:.1}" r="3"/>"#,
                    self.x(x),
                    self.y(y)
                )
                .expect("a text takes all");
            }
        }
        for (name, colour, y) in self.labels() {
            writeln!(
                svg,
                r#"<text x="{:.1}" y="{y:.1}" style="fill:{colour}">{name}</text>"#,
                WIDTH - RIGHT + 8.0,
            )
            .expect("a text takes all");
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn head(title: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n\
         <title>{title}</title>\n\
         <style>text{{font:12px sans-serif;fill:#444}}.grid{{stroke:#ccc}}rect{{stroke:none}}\
         @media(prefers-color-scheme:dark){{text{{fill:#bbb}}.grid{{stroke:#444}}}}</style>\n"
    )
}

fn line(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    writeln!(
        svg,
        r#"<line class="{class}" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
        from.0, from.1, to.0, to.1
    )
    .expect("a text takes all");
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, words: &str) {
    writeln!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}">{words}</text>"#,
        at.0, at.1
    )
    .expect("a text takes all");
}

const DAYS: f64 = 180.0;
const MONTHS: &[f64] = &[0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0];

fn over_days(name: String, of: impl Fn(f64) -> f64) -> Curve {
    let days = (0..=90).map(|step| f64::from(step) * DAYS / 90.0);
    Curve {
        name,
        points: days.map(|day| (day, of(day))).collect(),
    }
}

fn weights() -> Plot {
    let decay = Decay::default();
    let curves = [10.0, 9.0, 7.5, 5.0, 2.5, 0.5].map(|value| {
        over_days(format!("s = {value}"), |day| {
            weight(score(value), decay.coefficient(day))
        })
    });
    Plot {
        title: "Weight over 180 days for six scores",
        across: (DAYS, "days since last seen", MONTHS),
        up: (10.0, &[0.0, 2.5, 5.0, 7.5, 10.0]),
        curves: curves.into(),
        has_dots: false,
    }
}

fn coefficients() -> Plot {
    let settings = [
        (36_500.0, 0.1),
        (90.0, 0.1),
        (30.0, 0.5),
        (30.0, 0.1),
        (10.0, 0.1),
    ];
    let curves = settings.map(|(half_life, floor)| {
        let decay = Decay::new(half_life, floor).expect("the settings are allowed");
        over_days(format!("{half_life} d, φ {floor}"), |day| {
            decay.coefficient(day)
        })
    });
    Plot {
        title: "The decay coefficient for five settings",
        across: (DAYS, "days since last seen", MONTHS),
        up: (1.0, &[0.0, 0.25, 0.5, 0.75, 1.0]),
        curves: curves.into(),
        has_dots: false,
    }
}

fn observations() -> Plot {
    let runs = [
        ("from 5: 9 each time", 5.0, [9.0; 6]),
        ("from 8: 3 each time", 8.0, [3.0; 6]),
        ("from 9: 3, 9, 3, 9 …", 9.0, [3.0, 9.0, 3.0, 9.0, 3.0, 9.0]),
    ];
    let curves = runs.map(|(name, first, incoming)| {
        let mut points = vec![(0.0, first)];
        let mut now = score(first);
        for (index, value) in (1_u32..).zip(incoming) {
            now = smooth(now, score(value));
            points.push((f64::from(index), now.value()));
        }
        Curve {
            name: name.to_owned(),
            points,
        }
    });
    Plot {
        title: "The score after each of six observations",
        across: (6.0, "observations", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        up: (10.0, &[0.0, 2.5, 5.0, 7.5, 10.0]),
        curves: curves.into(),
        has_dots: true,
    }
}

/// The scale from 0 to 10, a row for each band.
fn bands() -> String {
    const ROW: f64 = 26.0;
    let rows = Band::ALL.len() as f64;
    let height = TOP + rows * ROW + BOTTOM;
    let x = |value: f64| LEFT + value / 10.0 * (WIDTH - LEFT - RIGHT);
    let mut svg = head("The bands on the scale from 0 to 10", height);
    for mark in 0..=10 {
        let at = x(f64::from(mark));
        line(&mut svg, "grid", (at, TOP), (at, height - BOTTOM));
        text(
            &mut svg,
            (at, height - BOTTOM + 16.0),
            "middle",
            &mark.to_string(),
        );
    }
    for ((index, band), colour) in (0_u32..).zip(Band::ALL).zip(COLOURS) {
        let (low, high) = band.range();
        let top = TOP + f64::from(index) * ROW;
        writeln!(
            svg,
            r#"<rect fill="{colour}" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" rx="3"/>"#,
            x(low),
            top + 4.0,
            x(high) - x(low),
            ROW - 8.0
        )
        .expect("a text takes all");
        text(
            &mut svg,
            (WIDTH - RIGHT + 8.0, top + 17.0),
            "start",
            &format!("{band} {low}–{high}"),
        );
    }
    text(&mut svg, (x(5.0), height - 4.0), "middle", "base score");
    svg.push_str("</svg>\n");
    svg
}

/// Whether two drawings are the same; numbers may be apart by what the last bits of a power do.
fn is_same_drawing(known: &str, generated: &str) -> bool {
    const APART: f64 = 0.11;
    let number = Regex::new(r"[0-9]+(\.[0-9]+)?").expect("it is one");
    let is_near = numbers(known)
        .iter()
        .zip(numbers(generated))
        .all(|(a, b)| (a - b).abs() < APART);
    is_near
        && numbers(known).len() == numbers(generated).len()
        && number.replace_all(known, "N") == number.replace_all(generated, "N")
}

#[test]
fn the_figures_are_what_the_functions_give() {
    let drawings = [
        ("weight", weights().svg()),
        ("decay", coefficients().svg()),
        ("smoothing", observations().svg()),
        ("bands", bands()),
    ];
    for (name, svg) in drawings {
        is_up_to_date(&format!("docs/images/{name}.svg"), &svg, is_same_drawing);
        assert!(text_of("docs/scoring.md").contains(&format!("(images/{name}.svg)")));
    }
}

#[test]
fn another_drawing_is_told_apart() {
    let drawing = "<p points=\"1.0,2.0\"/>";
    assert!(is_same_drawing(drawing, "<p points=\"1.1,2.0\"/>"));
    for other in [
        "<p points=\"1.0,2.5\"/>",
        "<q points=\"1.0,2.0\"/>",
        "<p points=\"1.0,2.0 3.0\"/>",
        "",
    ] {
        assert!(!is_same_drawing(drawing, other), "{other}");
    }
}

#[test]
fn the_table_of_weights_is_what_the_formula_gives() {
    let decay = Decay::default();
    let rows = table(&text_of("docs/scoring.md"), "for ever");
    assert_eq!(rows.len(), 6);
    for row in rows {
        let value = score(numbers(&row[0])[0]);
        for (cell, days) in row[1..].iter().zip([0.0, 30.0, 90.0, 180.0, f64::INFINITY]) {
            let computed = format!("{:.2}", weight(value, decay.coefficient(days)));
            assert_eq!(*cell, computed, "{row:?}");
        }
    }
}

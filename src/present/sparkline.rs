//! Numbers in the height of a line.

/// Values as bars, from nothing to `top`.
pub fn sparkline(values: &[f64], top: f64) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |value: &f64| {
        let eighths = (value / top * 8.0).ceil() as usize;
        BARS[eighths.clamp(1, BARS.len()) - 1]
    };
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_between_nothing_and_the_top() {
        let values = [10.0, 7.5, 5.0, 1.25, 1.26, 0.0, -1.0, 12.0, f64::NAN];
        assert_eq!(sparkline(&values, 10.0), "█▆▄▁▂▁▁█▁");
    }
}

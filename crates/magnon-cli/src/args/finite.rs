//! Numbers with a fraction, such as `0.5`.

/// A finite number. `NaN` and `inf` can be written and mean no setting.
pub fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err("it must be a finite number".to_owned()),
        Err(_) => Err("it is not a number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{Arg, Command, CommandFactory};
    use std::any::TypeId;

    #[test]
    fn what_is_not_finite_is_refused() {
        assert_eq!(finite("-2.5e3"), Ok(-2500.0));
        for text in ["nan", "NaN", "inf", "-inf", "1e400", "", "word"] {
            assert!(finite(text).is_err(), "{text}");
        }
    }

    /// No flag takes what is not finite.
    #[test]
    fn every_flag_of_numbers_is_held_to_it() {
        fn look(command: &Command, found: &mut usize) {
            let numbers = |arg: &&Arg| arg.get_value_parser().type_id() == TypeId::of::<f64>();
            for arg in command.get_arguments().filter(numbers) {
                let name = arg.get_id().as_str();
                let value = std::ffi::OsStr::new("nan");
                let alone = Command::new("x")
                    .arg(Arg::new("it").value_parser(arg.get_value_parser().clone()));
                let outcome = alone.try_get_matches_from([std::ffi::OsStr::new("x"), value]);
                assert!(outcome.is_err(), "{} --{name}", command.get_name());
                *found += 1;
            }
            command.get_subcommands().for_each(|command| look(command, found));
        }
        let mut found = 0;
        look(&Cli::command(), &mut found);
        assert!(found > 20, "{found} flags");
    }
}

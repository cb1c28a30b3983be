//! The acceptance tables of balancing in full, for `cargo xtask bench balancing`.

use std::process::ExitCode;
use tidegate_tests::balancing::acceptance::{disturbed, herding, sessions, steady};
use tidegate_tests::balancing::red5::{self, USERS};

const SEEDS: u32 = 10;

fn main() -> ExitCode {
    println!("What is demanded of dnf ({SEEDS} seeds)\n");
    let mut met = true;
    let rows = [steady(SEEDS), disturbed(SEEDS), sessions(SEEDS), vec![herding(SEEDS)]].concat();
    for row in &rows {
        met &= row.is_met();
        println!("  {} {}", if row.is_met() { "met   " } else { "MISSED" }, row.line());
    }
    println!("\nMean time to the first answer, in ms, by number of users (paper B, 2.4; 4 seeds)\n");
    print!("  {:<38}", "");
    USERS.iter().for_each(|users| print!("{users:>7}"));
    println!();
    for (name, balancer, equal) in red5::balancers() {
        print!("  {name:<38}");
        for users in USERS {
            print!("{:>7.0}", red5::mean_ms(users, &balancer, equal, 4));
        }
        println!();
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
